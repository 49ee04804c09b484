import { PROOF_LEVELS, type Proof, type ProofLevel } from '#chain/proof.ts'

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
export const provedFrom = (stored: unknown): Proved | undefined => {
  const { ranges, lost, formerKeys } = membersOf(stored)
  return Array.isArray(ranges) &&
    ranges.every(isRange) &&
    isCount(lost) &&
    Array.isArray(formerKeys) &&
    formerKeys.every(isFormerKey)
    ? { ranges, lost, formerKeys }
    : undefined
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const isRange = (value: unknown): value is ProvedRange => {
  const { from, to, level, agreed } = membersOf(value)
  return (
    isCount(from) &&
    isCount(to) &&
    from <= to &&
    PROOF_LEVELS.some(known => known === level) &&
    (agreed === undefined || agreed === true)
  )
}

const isFormerKey = (value: unknown): value is FormerKey => {
  const { key, until } = membersOf(value)
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
