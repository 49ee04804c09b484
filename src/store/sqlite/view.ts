import { MAX_INT64, MIN_INT64 } from '#chain/bounds.ts'
import type { Failure } from '#failure/failure.ts'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import type { DocOf, Index, Order } from '#indices/define.ts'
import { blockId, formatId, type ListDoc, listAndOrdinal, toPlace } from '#indices/list.ts'
import { type ListedRecord, type RecordDoc, records } from '#indices/record.ts'
import type { StateChange, StateIndex } from '#indices/registry.ts'
import { segments } from '#indices/segment.ts'
import {
  compareStandings,
  findCountedOrder,
  findStanding,
  LAST_NAME,
  type Standing,
  type StandingRange,
  standingFields,
} from '#indices/standing.ts'
import { type BoundedCache, boundedCache, countDocCharacters } from '#store/bounded-cache.ts'
import { missingData } from '#store/failures.ts'
import type { Moment, Published, View } from '#store/port.ts'
import { planPage, type Ranking, type RankingRows, requireRanking } from '#store/ranking.ts'
import type { StateReader } from '#store/state-port.ts'
import { yieldEventLoop } from '#time/clock.ts'
import { type SqliteConnection, undefinedIfDamaged } from './connection.ts'
import { getPublished, isUnderRepair } from './meta.ts'
import { WORDS } from './packed/values.ts'
import { columnList, formerRow, keyCells, keyCondition, keyList, perTable, toDoc } from './rows.ts'
import {
  fieldIndexName,
  formatCondition,
  getTable,
  namesColumn,
  orderIndexName,
  quoteIdentifier,
  ROW,
  type SqlTable,
  sortKeys,
} from './tables.ts'

const selectSql = perTable(
  table => `SELECT ${columnList(table)} FROM ${quoteIdentifier(table.name)} WHERE ${keyCondition(table)}`,
)

export function getById(connection: SqliteConnection, index: Index, id: string): object | undefined {
  const table = getTable(index)
  const key = keyCells(table, id)
  if (key === undefined) return undefined
  const cells =
    connection.layout === undefined ? connection.row(selectSql(table), ...key) : formerRow(connection, table, id)
  return cells && toDoc(table, cells)
}

const blocksTable = getTable(blocks)
/** Height of the highest stored block; undefined: none. */
export function selectLastBlock(connection: SqliteConnection): number | undefined {
  const key = connection.row(`SELECT max(${keyList(blocksTable)}) FROM ${quoteIdentifier(blocksTable.name)}`)?.[0]
  return typeof key === 'bigint' ? Number(key) : undefined
}

/** Documents with a value in a field of `finds`, ordered by id. */
export function findByField(
  connection: SqliteConnection,
  index: Index,
  { field, value }: { readonly field: string; readonly value: bigint },
): readonly object[] {
  const table = getTable(index)
  const sql =
    `SELECT ${columnList(table)} FROM ${quoteIdentifier(table.name)}` +
    ` INDEXED BY ${quoteIdentifier(fieldIndexName(table.name, field))} WHERE ${quoteIdentifier(field)} = ?` +
    ` ORDER BY ${keyList(table)} LIMIT ?`
  // Hashes practically never share 8 bytes by chance.
  return connection.rows(sql, value, 16n).map(cells => toDoc(table, cells))
}

const recordsTable = getTable(records)
const byPlace =
  `FROM ${quoteIdentifier(recordsTable.places ?? '')} AS p` +
  ` CROSS JOIN ${quoteIdentifier(recordsTable.name)} AS r ON r."${ROW}" = p."row"`

/** The columns of a listed record; the time is text, because it has more digits than a double. */
export const recordsSql =
  'SELECT r."height", r."tx", r."index", r."tx_hash", CAST(r."time" AS TEXT), r."contract", r."action_name", r."data",' +
  ' r."return", r."status_code", r."from", r."to", r."amount", r."creator", r."deployed", r."receipt", r."overflow"' +
  ` ${byPlace} WHERE p."place" BETWEEN ? AND ? ORDER BY p."place"`

/** Rows of a list with the requested ordinals that exist, ascending: one range of the table of places. */
function selectListRecords(
  connection: SqliteConnection,
  list: ListDoc,
  { first, last }: { readonly first: number; readonly last: number },
): readonly ListedRecord[] {
  const from = Math.max(first, 1)
  const to = Math.min(last, list.count)
  if (from > to) return []
  const rows = connection.numberRows(recordsSql, toPlace(list.number, from), toPlace(list.number, to))
  if (rows.length !== to - from + 1)
    throw missingData(`List '${list.id}' has ${rows.length} rows from ${from} to ${to} of ${list.count}.`)
  // As `toDoc` would decode it. Written out for speed, because each page of a list has dozens of rows.
  return rows.map(cells => {
    const [height, tx, index] = cells as [number, number, number]
    const { 5: contract, 6: action, 8: result, 9: status } = cells
    const record = {
      id: formatId(height, tx, index),
      height,
      tx,
      index,
      tx_hash: cells[3],
      time: BigInt(cells[4] as string),
      contract: typeof contract === 'number' ? WORDS[contract] : contract,
      action_name: typeof action === 'number' ? WORDS[action] : action,
      data: cells[7],
      return: typeof result === 'number' ? WORDS[result] : result,
      status_code: typeof status === 'number' ? WORDS[status] : status,
      from: cells[10],
      to: cells[11],
      amount: cells[12] ?? undefined,
      creator: cells[13] ?? undefined,
      deployed: cells[14] ?? undefined,
      receipt: cells[15] ?? undefined,
      overflow: cells[16] !== 0,
    }
    const unreadable = WORD_FIELDS.find(name => typeof record[name] !== 'string')
    if (unreadable !== undefined)
      throw missingData(`Field '${unreadable}' of ${recordsTable.name} '${record.id}' cannot be read.`)
    return record as ListedRecord
  })
}

const WORD_FIELDS = ['contract', 'action_name', 'return', 'status_code'] as const

const newRecordsSql =
  `SELECT ${columnList(recordsTable)} FROM ${quoteIdentifier(recordsTable.name)}` +
  ` WHERE "height" > ? ORDER BY ${keyList(recordsTable)}`

/** `View.newRecords`: reads all rows of the blocks above a height and filters those of the lists. */
const selectNewRecords = (
  connection: SqliteConnection,
  lists: ReadonlyMap<number, number>,
  height: number,
): readonly RecordDoc[] =>
  connection
    .rows(newRecordsSql, BigInt(height))
    .map(cells => toDoc(recordsTable, cells) as RecordDoc)
    .filter(({ places }) =>
      places.some(place => {
        const { list, ordinal } = listAndOrdinal(place)
        return ordinal > (lists.get(list) ?? Number.POSITIVE_INFINITY)
      }),
    )

const momentSql = `SELECT r."height", r."time" ${byPlace} WHERE p."place" = ?`

/** Heights and times of single rows of a list, with one look-up per row. */
const selectMoments = (connection: SqliteConnection, list: ListDoc, ordinals: readonly number[]): readonly Moment[] =>
  ordinals.map(ordinal => {
    const [height, time] = connection.row(momentSql, toPlace(list.number, ordinal)) ?? []
    if (typeof height !== 'bigint' || typeof time !== 'bigint')
      throw missingData(`List '${list.id}' has no row ${ordinal} of ${list.count}.`)
    return { height: Number(height), time }
  })

const timeSql = `SELECT "time" FROM ${quoteIdentifier(blocksTable.name)} WHERE ${keyCondition(blocksTable)}`

/** Without the other columns: a search by time reads dozens of blocks. */
function readBlockTime(connection: SqliteConnection, height: number): bigint {
  const time = connection.layout === undefined ? connection.row(timeSql, BigInt(height))?.[0] : undefined
  if (typeof time === 'bigint') return time
  // A file of a former layout, or a block with a time that cannot be read, which throws.
  const block = getById(connection, blocks, blockId(height)) as BlockDoc | undefined
  if (block === undefined) throw missingData(`Block ${height} is not stored.`)
  return block.time
}

const balancesTable = getTable(balances)
const dueSql =
  `SELECT ${columnList(balancesTable)} FROM ${quoteIdentifier(balancesTable.name)}` +
  ` INDEXED BY ${quoteIdentifier(fieldIndexName(balancesTable.name, 'next_due'))}` +
  ' WHERE "next_due" >= ? AND "next_due" <= ? ORDER BY "next_due", "id" LIMIT ?'

/**
 * Rows of an order along the order's own index; each skipped row costs some 30 ns. Only the start of a range
 * matters here, because rows are read sequentially and at most `limit`.
 */
function rankedRows<I extends StateIndex>(
  connection: SqliteConnection,
  { index, name, order, group }: Ranking<I>,
  { range, skip, limit }: RankingRows,
): readonly DocOf<I>[] {
  const named = group === undefined ? [] : [group]
  const counts = [BigInt(limit), BigInt(skip)]
  const { after } = range ?? {}
  const ranked = `${index.name}.${name}`
  let built = statements.get(ranked)
  if (built === undefined) {
    const own = getTable(index)
    built = {
      table: own,
      all: rankSql(own, name, order),
      rest: order.counted ? rankAfterSql(own, name, order) : '',
    }
    statements.set(ranked, built)
  }
  const { table, all, rest } = built
  const rows =
    after === undefined
      ? connection.rows(all, ...named, ...counts)
      : connection.rows(rest, ...named, after.amount, after.name, ...named, after.amount, ...counts)
  // Rows of an index's table are its documents.
  return rows.map(cells => toDoc(table, cells) as DocOf<I>)
}

/** The statements that read an order from its top, and from a standing on, by index and order; each is built once. */
const statements = new Map<string, { readonly table: SqlTable; readonly all: string; readonly rest: string }>()

/** Parameters: the group if there is one, then limit and offset. */
function rankSql(table: SqlTable, orderName: string, order: Order): string {
  const all = alongIndex(table, orderName, order)([])
  return formatSelectByIds(table, order, `${all} ORDER BY ${sortKeys(order)} LIMIT ? OFFSET ?`)
}

/**
 * Parameters: the group if there is one, an amount and a name; again the group and the amount; limit and
 * offset. It reads two ranges of the index: the members with the same amount beyond the name, then the rest.
 * Thus an amount that thousands of members share is not scanned.
 */
function rankAfterSql(table: SqlTable, orderName: string, order: Order): string {
  const fields = standingFields(order)
  const [amount, name] = [quoteIdentifier(fields.amount), quoteIdentifier(fields.member)]
  const run = alongIndex(table, orderName, order)
  const ties = run([`${amount} = ?`, `${name} > ?`])
  const rest = run([`${amount} < ?`])
  return formatSelectByIds(table, order, `${ties} UNION ALL ${rest} ORDER BY ${sortKeys(order)} LIMIT ? OFFSET ?`)
}

/**
 * Selects ids along the index of an order, with additional conditions. INDEXED BY makes a plan without the
 * index an error instead of a slow answer.
 */
function alongIndex(table: SqlTable, orderName: string, order: Order) {
  const keys = order.by.map(([field]) => quoteIdentifier(field)).join(', ')
  const own = [
    ...(order.group === undefined ? [] : [`${quoteIdentifier(order.group)} = ?`]),
    ...[formatCondition(order)].filter(condition => condition !== undefined),
  ]
  return (more: readonly string[]): string => {
    const conditions = [...own, ...more]
    return (
      `SELECT "id" AS "ranked", ${keys} FROM ${quoteIdentifier(table.name)}` +
      ` INDEXED BY ${quoteIdentifier(orderIndexName(table.name, orderName))}` +
      (conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`)
    )
  }
}

// The inner query takes the ids from the index alone, so that skipped rows need no look-up. The outer sort is
// of `limit` rows.
const formatSelectByIds = (table: SqlTable, order: Order, ids: string): string =>
  `SELECT ${columnList(table, 'r')} FROM (${ids})` +
  ` CROSS JOIN ${quoteIdentifier(table.name)} AS "r" ON "r"."id" = "ranked" ORDER BY ${sortKeys(order, 'r')}`

/** Documents whose names begin with a text, by name: one range of the index of names. */
function selectNamedRows(
  connection: SqliteConnection,
  index: Index,
  { text, limit }: { readonly text: string; readonly limit: number },
): readonly object[] {
  const table = getTable(index)
  const column = quoteIdentifier(namesColumn(index) ?? 'id')
  const sql =
    `SELECT ${columnList(table)} FROM ${quoteIdentifier(table.name)}` +
    ` WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column} LIMIT ?`
  return connection.rows(sql, text, text + LAST_NAME, BigInt(limit)).map(cells => toDoc(table, cells))
}

/** Members per statement. */
const STEP = 1_000

/** Reads state through `read`, which passes its open connection. */
export function openStateReader(read: <T>(work: (reader: SqliteConnection) => T) => T): StateReader {
  return {
    get: <I extends StateIndex>(index: I, id: string) =>
      read(reader => getById(reader, index, id)) as DocOf<I> | undefined,
    // Users choose these times, so any int64 is possible.
    due: ({ after, until, limit }) =>
      read(reader => {
        if (after === MAX_INT64) return []
        const from = after === undefined ? MIN_INT64 : after + 1n
        const rows = reader.rows(dueSql, from, until, BigInt(limit))
        return rows.map(cells => toDoc(balancesTable, cells) as BalanceDoc)
      }),
    members: range => read(reader => readMembers(reader, range)),
  }
}

function readMembers(reader: SqliteConnection, range: StandingRange): readonly StateChange['doc'][] {
  const order = findCountedOrder(range.index)
  if (order === undefined) throw new TypeError(`No order of ${range.index.name} is counted.`)
  // Counted orders are orders of state.
  const ranking = requireRanking({ ...range, index: range.index as StateIndex })
  const found: StateChange['doc'][] = []
  for (let after: Standing | undefined = range.after; ; ) {
    const rows = { range: { after, tied: Number.POSITIVE_INFINITY }, skip: 0, limit: STEP }
    const part = rankedRows(reader, ranking, rows) as readonly object[] as readonly StateChange['doc'][]
    for (const doc of part) {
      const standing = findStanding(order, doc)
      if (standing === undefined) throw new TypeError(`A document of ${range.index.name} is in no ranking.`)
      if (range.until !== undefined && compareStandings(standing, range.until) > 0) return found
      found.push(doc)
      after = standing
    }
    if (part.length < STEP) return found
  }
}

/** The cached state of a connection for one version of the file. */
export type ReadState = {
  readonly at: Published
  readonly isUnderRepair: boolean
  /** State documents by index and id; undefined: no document has that id. */
  readonly docs: BoundedCache<object | undefined>
}

/** The state in the current transaction; undefined: nothing is published. */
export function readState(connection: SqliteConnection): ReadState | undefined {
  const at = getPublished(connection)
  // This many characters take some 2 MB, or 15 MB if all are lists of short lists.
  return at && { at, isUnderRepair: isUnderRepair(connection), docs: boundedCache(500_000) }
}

/** Guards the reads of a view until it ends. */
function createReadGuard() {
  let ended: (() => Failure) | undefined
  let since = performance.now()
  return {
    /** Waits until the next read may begin, if it must. Throws the reason for which the view has ended. */
    turn: async (): Promise<void> => {
      // If reads did not yield, nothing else would run, deadlines included, because reads never wait.
      if (ended === undefined && performance.now() - since > 10) {
        await yieldEventLoop()
        since = performance.now()
      }
      if (ended !== undefined) throw ended()
    },
    /** Ends the view: every later call throws the first `reason`, because it must not read another snapshot. */
    end: (reason: () => Failure): void => {
      ended ??= reason
    },
  }
}

function readDocument(
  {
    connection,
    docs,
    isDamaged,
  }: Pick<ReadState, 'docs'> & { readonly connection: SqliteConnection; readonly isDamaged: boolean },
  index: Index,
  id: string,
): object | undefined {
  // A damaged document counts as absent for this reader alone, so it is not cached.
  if (isDamaged) return undefinedIfDamaged(() => getById(connection, index, id))
  const key = index.kind === 'history' ? undefined : `${index.name}/${id}`
  const known = key === undefined ? undefined : docs.get(key)
  if (known !== undefined) return known.value
  const doc = getById(connection, index, id)
  if (key !== undefined) docs.put(key, doc, countDocCharacters(doc))
  return doc
}

/**
 * The view of a connection in a read transaction: one snapshot, independent of later commits. `isDamaged`: a
 * document that cannot be read counts as absent.
 */
export function createSqliteView(
  connection: SqliteConnection,
  { at, docs }: ReadState,
  { isDamaged, release }: Pick<View, 'release'> & { readonly isDamaged: boolean },
) {
  const { turn, end } = createReadGuard()
  const from = { connection, docs, isDamaged }
  // Rows of an index's table are its documents: the casts are safe, because `toDoc` uses the same definition.
  const find = <I extends Index>(index: I, field: string, value: bigint) =>
    findByField(connection, index, { field, value }) as readonly DocOf<I>[]
  const view: View = {
    at,
    release,
    ...(isDamaged ? {} : { edition: docs }),
    get: async (index, id) => {
      await turn()
      return readDocument(from, index, id) as DocOf<typeof index> | undefined
    },
    getMany: async (index, ids) => {
      await turn()
      return ids.map(id => readDocument(from, index, id) as DocOf<typeof index> | undefined)
    },
    find: async (index, field, value) => {
      await turn()
      return find(index, field, value)
    },
    findAny: async (index, field, values) => {
      await turn()
      return values.flatMap(value => find(index, field, value)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    },
    startingWith: async <I extends Index>(index: I, text: string, limit: number) => {
      await turn()
      return selectNamedRows(connection, index, { text, limit }) as readonly DocOf<I>[]
    },
    page: async (index, order, options) => {
      const ranking = requireRanking({ index, order, group: options.group })
      const rows = await planPage({ segments: ids => view.getMany(segments, ids) }, ranking, options)
      await turn()
      return rows === undefined ? [] : rankedRows(connection, ranking, rows)
    },
    records: async (list, first, last) => {
      await turn()
      return selectListRecords(connection, list, { first, last })
    },
    newRecords: async (lists, height) => {
      await turn()
      return selectNewRecords(connection, lists, height)
    },
    moments: async (list, ordinals) => {
      await turn()
      return selectMoments(connection, list, ordinals)
    },
    blockTimes: async heights => {
      await turn()
      return heights.map(height => readBlockTime(connection, height))
    },
  }
  return { view, end }
}
