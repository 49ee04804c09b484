import { RawJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import type { HeadAt } from '#head/head-state.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { View } from '#store/port.ts'
import type { Compat, Context } from '../define.ts'
import { readBodies } from '../find/bodies.ts'
import { type RowTexts, readRowTexts } from '../find/overflow.ts'
import { findStakeRows } from '../find/stakes.ts'
import { createBodyReader } from '../list/head-rows.ts'
import type { Listing } from '../list/list-rows.ts'
import type { Merged } from '../list/merge.ts'
import { listRecords, type NumberedRecord, type RangeInOrder } from '../list/numbered.ts'
import { readRowIds, rowIds, rowIdText } from '../list/row-id.ts'
import type { Rows } from '../list/rows.ts'
import { toRowStatus } from './head-status.ts'
import { extractRowFacts, type RowFacts } from './row-facts.ts'

const NO_TEXTS: ReadonlyMap<string, RowTexts> = new Map()
const NO_STAKES: ReadonlySet<string> = new Set()
/** Number of rows with long texts in memory at once: up to 130 KB each. */
const LONG_AT_ONCE = 64

/** The form of a list of records; `contract`: whether every row includes its contract. */
export const shownRecords = (shown: Shown): Pick<Listing<NumberedRecord>, 'rows' | 'parts'> => ({
  rows: (view, docs) => recordRows(view, docs, shown),
  parts: docs => {
    const first = docs.findIndex(({ doc }) => doc.overflow)
    return first < 0 ? { ahead: docs, later: [] } : { ahead: docs.slice(0, first), later: inRuns(docs.slice(first)) }
  },
})

/** The rows of one list within a range. Throws like `listRecords`. */
export async function listedRecords(
  context: Context,
  list: string,
  { contract, isBook, ...asked }: RangeInOrder & RecordForm,
) {
  const { compat, head } = context
  return { ...(await listRecords(context, list, asked)), ...shownRecords({ contract, isBook, compat, head }) }
}

/** Rows in chunks with at most `LONG_AT_ONCE` long rows each. */
function inRuns(docs: readonly NumberedRecord[]): readonly (readonly NumberedRecord[])[] {
  const runs: NumberedRecord[][] = [[]]
  let long = 0
  for (const row of docs) {
    long += row.doc.overflow ? 1 : 0
    if (long > LONG_AT_ONCE) {
      runs.push([])
      long = 1
    }
    runs.at(-1)?.push(row)
  }
  return runs
}

/** The form that an action gives to its rows. */
export type RecordForm = {
  readonly contract: 'always' | 'compat'
  /** Whether the rows become bookings, which need to know about stakes. */
  readonly isBook?: boolean | undefined
}

type Shown = RecordForm & {
  readonly compat: Compat
  /** The head blocks, if requested; each row then has a status. */
  readonly head?: HeadAt | undefined
}

/** Rows found by a search. They have an id instead of a number in a list. `owners`: the owner of each list. */
export async function foundRows(
  view: View,
  found: readonly Merged[],
  { contract, isBook, compat, owners }: Shown & { readonly owners: readonly string[] | undefined },
): Promise<Rows> {
  const docs = found.map(({ doc }) => doc)
  const texts = docs.some(({ overflow }) => overflow)
    ? await readRowTexts(each => readBodies(view, each), docs)
    : NO_TEXTS
  const stakes = isBook === true ? await findStakeRows(each => readBodies(view, each), docs) : NO_STAKES
  const ids = await readRowIds(
    view,
    docs.map(({ id }) => id),
  )
  return writtenRows(docs, { texts, compat }, at => {
    const named = compat === 'iostabc' ? undefined : ids[at]
    return {
      id: named && rowIdText(named),
      status: undefined,
      accounts: owners && [...new Set(found[at]?.runs.map(run => owners[run] ?? ''))],
      isNamed: contract === 'always' || compat === 'iostabc',
      isStake: stakes.has(docs[at]?.id ?? '') || undefined,
    }
  })
}

async function recordRows(
  view: View,
  numbered: readonly NumberedRecord[],
  { contract, isBook, compat, head }: Shown,
): Promise<Rows> {
  const docs = numbered.map(({ doc }) => doc)
  const texts = docs.some(({ overflow }) => overflow)
    ? await readRowTexts(createBodyReader(view, numbered), docs)
    : NO_TEXTS
  const stakes = isBook === true ? await findStakeRows(createBodyReader(view, numbered), docs) : NO_STAKES
  const ids = head === undefined ? [] : await rowIds(view, numbered, ({ id }) => id)
  const isNamed = contract === 'always' || compat === 'iostabc'
  return writtenRows(docs, { texts, compat }, at => {
    const { seq, above } = numbered[at] ?? {}
    const id = ids[at]
    return {
      seq: compat === 'iostabc' || above !== undefined ? undefined : seq,
      id,
      status: head === undefined ? undefined : toRowStatus(above),
      isNamed,
      isStake: stakes.has(docs[at]?.id ?? '') || undefined,
    }
  })
}

/** The fields before those of all rows; undefined: the row does not have the field. */
type Lead = {
  readonly seq?: number | undefined
  readonly id?: string | undefined
  readonly status: string | undefined
  /** The requested accounts that the row belongs to. */
  readonly accounts?: readonly string[] | undefined
  /** Whether the row includes its contract. */
  readonly isNamed: boolean
  /** Only on rows that become bookings: whether the row is a stake. */
  readonly isStake?: true | undefined
}

/** Rows of records. `texts`: the texts of records that do not hold them, by id (`readRowTexts`). */
export function writtenRows(
  docs: readonly ListedRecord[],
  { texts, compat }: { readonly texts: ReadonlyMap<string, RowTexts>; readonly compat: Compat },
  leadOf: (at: number) => Lead,
): Rows {
  const isOld = compat === 'iostabc'
  const data: (RawJson | string)[] = []
  // Neighbours often share a time.
  let last: { readonly time: bigint; readonly iso: string } | undefined
  const rows = docs.map((doc, at) => {
    const own = texts.get(doc.id) ?? doc
    data.push(isOld ? own.data : new RawJson(arrayText(own.data)))
    if (last?.time !== doc.time) last = { time: doc.time, iso: toIso(doc.time) }
    const { seq, id, status, accounts, isNamed, isStake } = leadOf(at)
    const facts: RowFacts = isOld ? { amount: doc.amount } : extractRowFacts(doc, own)
    const { amount, token, memo, locked_until, collection, token_id } = facts
    return {
      seq,
      id,
      status,
      accounts,
      contract: isNamed ? own.contract : undefined,
      action_name: own.action_name,
      data: '',
      block: String(doc.height),
      tx_hash: doc.tx_hash,
      from: doc.from,
      to: doc.to,
      created_at: last.iso,
      index: doc.index,
      return: own.return,
      status_code: doc.status_code,
      amount,
      token,
      memo,
      locked_until,
      collection,
      token_id,
      isStake,
    }
  })
  return { rows, data }
}

/**
 * An array of strings without escapes and of whole numbers, like nearly all. The match takes half the time of
 * JSON.parse.
 */
const PLAIN = /^\[(?:"[ !#-[\]-\uffff]*"|0|[1-9]\d*)(?:,(?:"[ !#-[\]-\uffff]*"|0|[1-9]\d*))*\]$/

/** The chain's text as an array: inserted unchanged, so that every number keeps its digits. */
function arrayText(text: string): string {
  if (PLAIN.test(text)) return text
  try {
    if (Array.isArray(JSON.parse(text))) return text
  } catch {
    // Any text is legal here (system.iost/receipt): it becomes the only element of an array.
  }
  return `[${JSON.stringify(text)}]`
}
