import { PROOF_LEVELS, type Proof, type ProofLevel } from '#chain/proof.ts'

/** How far the chain is stored and published, and what was known of the node then. Answers are true at `height`. */
export type Published = {
  readonly height: number
  readonly hash: string
  /** Time of that block, nanoseconds since 1970. */
  readonly time: bigint
  /** The node's last irreversible block when this was written. */
  readonly lib: number
  /** How far the blocks up to it were proved; absent in what older versions wrote. */
  readonly proved?: Proved
}

/** Which chain is stored, by what rules. */
export type Identity = {
  readonly chainId: number
  readonly genesis: string
  /** `DERIVATION` of the loader that began it. */
  readonly derivation: number
}

/** Members of an object as it was found: each may be anything. */
export type Members = Readonly<Record<string, unknown>>

/** undefined: it is no object. */
export const membersOf = (value: unknown): Members | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** Block ids have no room for a larger height. */
const HEIGHTS = 1e12
export const isHeight = (value: unknown): value is number => isCount(value) && value < HEIGHTS

const INT64_MAX = 2n ** 63n - 1n
/** Nanoseconds since 1970, with no more digits than a time can have. */
const TIME = /^\d{1,19}$/

/** The end of a store as it was written, with its time as text; undefined: it is not one. */
export const publishedFrom = (value: unknown): Published | undefined => {
  const { height, hash, time, lib, proved: stored } = membersOf(value) ?? {}
  const isEnd =
    isHeight(height) && typeof hash === 'string' && hash !== '' && isCount(lib) && typeof time === 'string'
  if (!isEnd || !TIME.test(time) || BigInt(time) > INT64_MAX) return undefined
  const proved = provedFrom(stored)
  return { height, hash, time: BigInt(time), lib, ...(proved === undefined ? {} : { proved }) }
}

/** Blocks that were proved alike. */
export type ProvedRange = {
  readonly from: number
  readonly to: number
  readonly level: ProofLevel
  /** Another node named the same hash of the range's last block, or of a descendant in the same batch. */
  readonly agreed?: true
}

/** A producer's key that was replaced: its owner signs with it until the witnesses are elected anew. */
export type FormerKey = {
  readonly key: string
  /** Last height it may sign. */
  readonly until: number
}

/** The proofs of the stored blocks as they were loaded; kept with the published height. */
export type Proved = {
  /** Ascending, without overlap; neighbours differ. Other blocks were loaded by a version that kept no record. */
  readonly ranges: readonly ProvedRange[]
  /** Receipts that were fetched raw because a node's JSON had lost bytes of them. */
  readonly lost: number
  readonly formerKeys: readonly FormerKey[]
}

/** Ranges kept at most: where levels change more often, the oldest neighbours become one of the weaker level. */
const MOST_RANGES = 64

export const NOTHING_PROVED: Proved = { ranges: [], lost: 0, formerKeys: [] }

/** A run of blocks from `from` on, as far as they were proved, behind what was proved before. */
export const provedWith = (
  before: Proved,
  run: { readonly from: number; readonly proofs: readonly Proof[]; readonly agreed: boolean },
): Proved => {
  const ranges = provedBelow(before, run.from).ranges.slice()
  run.proofs.forEach(({ level }, at) => {
    const height = run.from + at
    append(ranges, { from: height, to: height, level, ...(run.agreed ? { agreed: true } : {}) })
  })
  const lost = run.proofs.reduce((sum, proof) => sum + (proof.lost ?? 0), before.lost)
  return { ...before, ranges: atMost(ranges, MOST_RANGES), lost }
}

/** The record for the blocks below a height only: later ones belong to another chain, or are loaded again. */
export const provedBelow = (proved: Proved, height: number): Proved => ({
  ...proved,
  ranges: proved.ranges
    .filter(({ from }) => from < height)
    .map(range => ({ ...range, to: Math.min(range.to, height - 1) })),
})

/** How far a block was proved, by the record; undefined: it is not in it. */
export const provedAt = ({ ranges }: Proved, height: number): ProvedRange | undefined =>
  ranges.find(({ from, to }) => from <= height && height <= to)

/** How far the store says that a block was proved; what is not on record was at best linked. */
export const recordedLevel = (
  { proved }: { readonly proved?: Proved | undefined },
  height: number,
): ProofLevel => (proved === undefined ? undefined : provedAt(proved, height)?.level) ?? 'linked'

/** The stored record; undefined: there is none, or it cannot be read, which proves just as little. */
const provedFrom = (stored: unknown): Proved | undefined => {
  const { ranges, lost, formerKeys } = membersOf(stored) ?? {}
  return Array.isArray(ranges) &&
    ranges.every(isRange) &&
    isCount(lost) &&
    Array.isArray(formerKeys) &&
    formerKeys.every(isFormerKey)
    ? { ranges, lost, formerKeys }
    : undefined
}

const isRange = (value: unknown): value is ProvedRange => {
  const { from, to, level, agreed } = membersOf(value) ?? {}
  return (
    isCount(from) &&
    isCount(to) &&
    from <= to &&
    PROOF_LEVELS.some(known => known === level) &&
    (agreed === undefined || agreed === true)
  )
}

const isFormerKey = (value: unknown): value is FormerKey => {
  const { key, until } = membersOf(value) ?? {}
  return typeof key === 'string' && isCount(until)
}

const append = (ranges: ProvedRange[], next: ProvedRange): void => {
  const last = ranges.at(-1)
  if (
    last !== undefined &&
    last.to + 1 === next.from &&
    last.level === next.level &&
    last.agreed === next.agreed
  )
    ranges[ranges.length - 1] = { ...last, to: next.to }
  else ranges.push(next)
}

const atMost = (ranges: readonly ProvedRange[], most: number): readonly ProvedRange[] => {
  let rest = ranges
  while (rest.length > most) {
    const at = rest.findIndex((range, index) => range.to + 1 === rest[index + 1]?.from)
    const [first, second] = [rest[at], rest[at + 1]]
    if (first === undefined || second === undefined) return rest
    const shorter: ProvedRange[] = rest.slice(0, at)
    append(shorter, weaker(first, second))
    for (const range of rest.slice(at + 2)) append(shorter, range)
    rest = shorter
  }
  return rest
}

const weaker = (a: ProvedRange, b: ProvedRange): ProvedRange => ({
  from: a.from,
  to: b.to,
  level: PROOF_LEVELS[Math.min(PROOF_LEVELS.indexOf(a.level), PROOF_LEVELS.indexOf(b.level))] ?? 'linked',
  ...(a.agreed === true && b.agreed === true ? { agreed: true } : {}),
})
