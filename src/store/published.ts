import { PROOF_LEVELS, type Proof, type ProofLevel } from '#chain/block.ts'
import { MAX_INT64 } from '#chain/bounds.ts'

/** The published height of the store, and the node's state at that time. Answers are true at `height`. */
export type Published = {
  readonly height: number
  readonly hash: string
  /** Time of block `height`, nanoseconds since 1970. */
  readonly time: bigint
  /** The node's last irreversible block when this record was written. */
  readonly lib: number
  /** Proofs of the blocks up to `height`; absent in records of older versions. */
  readonly proved?: ProofRecord
}

export type Identity = {
  readonly chainId: number
  readonly genesis: string
  /** `DERIVATION` of the loader that loaded the first block. */
  readonly derivation: number
}

/** Members of a parsed object, not validated: each may have any type. */
export type Members = Readonly<Record<string, unknown>>

/** undefined: the value is not an object. */
export const toMembers = (value: unknown): Members | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** Block ids have 12 digits and so no room for a larger height. */
export const isHeight = (value: unknown): value is number => isCount(value) && value < 1e12

/** The published record as parsed from JSON, with its time as text; undefined: not a valid record. */
export function parsePublishedRecord(value: unknown): Published | undefined {
  const { height, hash, time, lib, proved: stored } = toMembers(value) ?? {}
  const isEnd = isHeight(height) && typeof hash === 'string' && hash !== '' && isCount(lib) && typeof time === 'string'
  // Nanoseconds since 1970, with at most the digits of a 64-bit time.
  if (!isEnd || !/^\d{1,19}$/.test(time) || BigInt(time) > MAX_INT64) return undefined
  const proved = parseProofs(stored)
  return { height, hash, time: BigInt(time), lib, ...(proved === undefined ? {} : { proved }) }
}

/** Consecutive blocks with the same proof level. */
export type ProvedRange = {
  readonly from: number
  readonly to: number
  readonly level: ProofLevel
  /** Another node reported the same hash for the range's last block, or for a descendant in the same batch. */
  readonly agreed?: true
}

/** A producer's replaced key: the producer signs with it until the witnesses are elected anew. */
export type FormerKey = {
  readonly key: string
  /** Last height that the key may sign. */
  readonly until: number
}

/** The proofs of the stored blocks at the time they were loaded; stored with the published height. */
export type ProofRecord = {
  /** Ascending, without overlap; neighbours differ. A version without this record loaded all other blocks. */
  readonly ranges: readonly ProvedRange[]
  /** Receipts that were fetched in raw form because a node's JSON had lost some of their bytes. */
  readonly lost: number
  readonly formerKeys: readonly FormerKey[]
}

export const NOTHING_PROVED: ProofRecord = { ranges: [], lost: 0, formerKeys: [] }

/** The record with the proofs of consecutive blocks from `from` on, in place of earlier proofs of that range. */
export function withProofs(
  before: ProofRecord,
  run: { readonly from: number; readonly proofs: readonly Proof[]; readonly agreed: boolean },
): ProofRecord {
  const ranges = trimProofs(before, run.from).ranges.slice()
  run.proofs.forEach(({ level }, at) => {
    const height = run.from + at
    append(ranges, { from: height, to: height, level, ...(run.agreed ? { agreed: true } : {}) })
  })
  const lost = run.proofs.reduce((sum, proof) => sum + (proof.lost ?? 0), before.lost)
  return { ...before, ranges: limitRanges(ranges), lost }
}

/** The record of the blocks below a height only: later blocks belong to another chain, or are loaded again. */
export const trimProofs = (proved: ProofRecord, height: number): ProofRecord => ({
  ...proved,
  ranges: proved.ranges
    .filter(({ from }) => from < height)
    .map(range => ({ ...range, to: Math.min(range.to, height - 1) })),
})

/** The range with the block's proof level; undefined: the block is not on record. */
export const findProof = ({ ranges }: ProofRecord, height: number): ProvedRange | undefined =>
  ranges.find(({ from, to }) => from <= height && height <= to)

/** The recorded proof level of a block; blocks that are not on record were at best linked. */
export const recordedLevel = ({ proved }: { readonly proved?: ProofRecord | undefined }, height: number): ProofLevel =>
  (proved === undefined ? undefined : findProof(proved, height)?.level) ?? 'linked'

/** The stored record; undefined: it is absent, or it cannot be read and so proves as little. */
function parseProofs(stored: unknown): ProofRecord | undefined {
  const { ranges, lost, formerKeys } = toMembers(stored) ?? {}
  return Array.isArray(ranges) &&
    ranges.every(isRange) &&
    isCount(lost) &&
    Array.isArray(formerKeys) &&
    formerKeys.map(toMembers).every(former => typeof former?.['key'] === 'string' && isCount(former['until']))
    ? { ranges, lost, formerKeys }
    : undefined
}

function isRange(value: unknown): value is ProvedRange {
  const { from, to, level, agreed } = toMembers(value) ?? {}
  return (
    isCount(from) &&
    isCount(to) &&
    from <= to &&
    PROOF_LEVELS.some(known => known === level) &&
    (agreed === undefined || agreed === true)
  )
}

function append(ranges: ProvedRange[], next: ProvedRange): void {
  const last = ranges.at(-1)
  if (last !== undefined && last.to + 1 === next.from && last.level === next.level && last.agreed === next.agreed)
    ranges[ranges.length - 1] = { ...last, to: next.to }
  else ranges.push(next)
}

/** Of more than 64 ranges, the oldest two neighbours become one range of the weaker level. */
function limitRanges(ranges: readonly ProvedRange[]): readonly ProvedRange[] {
  let rest = ranges
  while (rest.length > 64) {
    const at = rest.findIndex((range, index) => range.to + 1 === rest[index + 1]?.from)
    const [first, second] = [rest[at], rest[at + 1]]
    if (first === undefined || second === undefined) return rest
    const shorter: ProvedRange[] = rest.slice(0, at)
    const weaker = PROOF_LEVELS[Math.min(PROOF_LEVELS.indexOf(first.level), PROOF_LEVELS.indexOf(second.level))]
    append(shorter, {
      from: first.from,
      to: second.to,
      level: weaker ?? 'linked',
      ...(first.agreed === true && second.agreed === true ? { agreed: true } : {}),
    })
    for (const range of rest.slice(at + 2)) append(shorter, range)
    rest = shorter
  }
  return rest
}
