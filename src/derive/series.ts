import type { Block } from '#chain/block.ts'
import {
  applyHeldEntry,
  applyVoteEntry,
  type Cause,
  type Entry,
  entryText,
  fullPart,
  numberText,
  parseEntries,
  parseHeld,
  parsePackedNumber,
  parseVotes,
  prolonged,
  type SeriesDoc,
  series,
} from '#indices/series.ts'
import type { State } from './state.ts'

/**
 * The cause of a change. That of a movement is its row, whose number is known after the transaction. `until`: the
 * movement froze an amount; `own`: that amount, if it was the owner's before.
 */
export type ChangeCause = (Cause | { readonly movement: object; readonly until?: bigint; readonly own?: bigint }) & {
  readonly more?: readonly string[]
}

/** Series of amounts while a block is derived. */
export type SeriesDrafts = {
  /** Opens a series that is about to change (`seriesOf`). `isNew`: it cannot exist yet, so it need not be read. */
  open(key: string, how?: { readonly isNew: boolean }): OpenSeries
  note(series: OpenSeries, change: bigint, by: ChangeCause): void
  /** Sets the row of a movement. */
  row(movement: object, index: number): void
  /** Ends a transaction, or the changes before or after all transactions. */
  end(tx: number): void
  settle(): void
}

export type OpenSeries = { readonly key: string; readonly isNew: boolean; newest: Draft | undefined }

type Draft = {
  readonly part: number
  readonly first: number
  readonly height: number
  readonly opening: readonly string[]
  count: number
  /** The sums in the document, before this block. */
  readonly gained: string
  readonly lost: string
  /** The sums that this block adds; numbers of any length are read and written only if they change. */
  more: bigint
  less: bigint
  gains: number
  losses: number
  entries: string
}

export function seriesDrafts(state: State, { height }: Pick<Block, 'height'>): SeriesDrafts {
  const opened = new Map<string, OpenSeries>()
  const full: { readonly key: string; readonly draft: Draft }[] = []
  let noted: { readonly series: OpenSeries; readonly change: bigint; readonly by: ChangeCause }[] = []
  const rows = new Map<object, number>()

  /** The part for the next change. */
  const partOf = (of: OpenSeries): Draft => {
    const { key, newest } = of
    if (newest !== undefined && !isFull(newest)) return newest
    if (newest !== undefined) full.push({ key, draft: newest })
    const next = startNextPart(key, height, newest)
    of.newest = next
    return next
  }
  const add = ({ series: of, change, by }: (typeof noted)[number], tx: number): void => {
    const index = 'movement' in by ? rows.get(by.movement) : undefined
    const until = 'until' in by ? by.until : undefined
    const frozen = until === undefined ? undefined : [String(until), ...('own' in by ? [String(by.own)] : [])]
    const entry = { height, tx, cause: toCause(by, index), change, times: 1, more: frozen ?? by.more ?? NOTHING }
    append(of.key, partOf(of), entry)
  }
  return {
    open: (key, { isNew } = { isNew: false }) => {
      const known = opened.get(key)
      if (known !== undefined) return known
      const fresh = { key, isNew, newest: isNew ? undefined : openSeriesDraft(state.get(series, key)) }
      opened.set(key, fresh)
      return fresh
    },
    note: (of, change, by) => {
      if (change !== 0n || 'own' in by) noted.push({ series: of, change, by })
    },
    row: (movement, index) => {
      rows.set(movement, index)
    },
    end: tx => {
      if (noted.length > 0) for (const each of noted) add(each, tx)
      noted = []
      rows.clear()
    },
    settle: () => {
      for (const { key, draft } of full) state.add(series, toSeriesDoc(fullPart(key, draft.part), draft))
      for (const { key, isNew, newest } of opened.values()) {
        if (newest === undefined) continue
        if (isNew) state.add(series, toSeriesDoc(key, newest))
        else state.put(series, toSeriesDoc(key, newest))
      }
    },
  }
}

/**
 * The newest part of a series after a block's payment for its parent, if that is its only change; undefined:
 * the change begins another part.
 */
export function withContribute(before: SeriesDoc | undefined, height: number, change: bigint): SeriesDoc | undefined {
  const draft = openSeriesDraft(before)
  if (before === undefined || draft === undefined || isFull(draft)) return undefined
  append(before.id, draft, { height, tx: 0, cause: OF_BLOCK, change, times: 1, more: NOTHING })
  return toSeriesDoc(before.id, draft)
}

const OF_BLOCK: Cause = { kind: 'block' }
const NOTHING: readonly string[] = []

function toCause(by: ChangeCause, index: number | undefined): Cause {
  if (!('movement' in by)) return by
  // The contribute for the parent block is the only movement without a row.
  if (index === undefined) return OF_BLOCK
  return { kind: by.until === undefined ? 'row' : 'freeze', index }
}

function openSeriesDraft(doc: SeriesDoc | undefined): Draft | undefined {
  if (doc === undefined) return undefined
  const { part, first, height, opening, count, gained, lost, gains, losses, entries } = doc
  return { part, first, height, opening, count, gained, lost, gains, losses, more: 0n, less: 0n, entries }
}

function startNextPart(key: string, height: number, before: Draft | undefined): Draft {
  const none = { height, count: 0, gained: '0', lost: '0', more: 0n, less: 0n, gains: 0, losses: 0, entries: '' }
  if (before === undefined) return { ...none, part: 0, first: 1, opening: NOTHING }
  const { part, first, count } = before
  const opening = computeOpening(key, before)
  return { ...none, part: part + 1, first: first + count, opening, ...pickSums(before) }
}

/** The opening of the part after a full one. Series begin at zero, so it is mostly gains less losses. */
function computeOpening(key: string, draft: Draft): readonly string[] {
  const { height, opening, entries } = draft
  if (/^@[vmn]/.test(key)) return computeBallotOpening(opening, parseEntries(entries, height))
  const gained = parsePackedNumber(draft.gained) + draft.more
  const lost = parsePackedNumber(draft.lost) + draft.less
  if (key.startsWith('@')) return [numberText(gained - lost)]
  return opening.length > 2 || hasFrozenEntry(entries)
    ? computeBalanceOpening(opening, parseEntries(entries, height))
    : [String(gained - lost), '0']
}

/** Whether amounts were frozen or became due in these entries of a balance. */
const hasFrozenEntry = (text: string): boolean => /[fd]/.test(text)

/** The opening of the next part of a balance. */
function computeBalanceOpening(opening: readonly string[], entries: readonly Entry[]): readonly string[] {
  let held = parseHeld(opening)
  for (const entry of entries) held = applyHeldEntry(held, entry, entry.times)
  return [String(held.available), String(held.frozen), ...held.list.flat()]
}

/** The opening of the next part of a voter. */
const computeBallotOpening = (opening: readonly string[], entries: readonly Entry[]): readonly string[] =>
  [...entries.reduce(applyVoteEntry, parseVotes(opening))].flatMap(([name, votes]) => [name, numberText(votes)])

/** Whether the entries' text, less that of the opening, is so long that the next change begins a part: some 30 changes. */
function isFull({ entries, opening }: Draft): boolean {
  let full = 512
  for (const text of opening) full += text.length
  return entries.length >= full
}

/** Adds a change. The contribute of the very next block extends the last entry instead of adding one. */
function append(key: string, draft: Draft, entry: Entry): void {
  const { entries, height } = draft
  const longer = entry.cause.kind === 'block' ? prolonged(entries, entry, height) : undefined
  draft.entries = longer ?? entries + entryText(entry, height)
  draft.count += 1
  // The sum of masks, over several names, has no meaning, and has 60 digits.
  if (entry.cause.kind === 'due' || /^@[mn]/.test(key)) return
  if (entry.change > 0n) {
    draft.more += entry.change
    draft.gains += 1
  } else if (entry.change < 0n) {
    draft.less -= entry.change
    draft.losses += 1
  }
}

function toSeriesDoc(id: string, draft: Draft): SeriesDoc {
  const { part, first, count, height, opening, entries } = draft
  return { id, part, first, count, height, opening, ...pickSums(draft), entries }
}

/** The gains and losses up to the last change: sums and counts. */
const pickSums = ({ gained, lost, more, less, gains, losses }: Draft) => ({
  gained: more === 0n ? gained : numberText(parsePackedNumber(gained) + more),
  lost: less === 0n ? lost : numberText(parsePackedNumber(lost) + less),
  gains,
  losses,
})
