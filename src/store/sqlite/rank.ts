import type { DocOf, Order } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import { standingFields } from '#indices/standing.ts'
import type { Ranking, RankingRows } from '#store/ranking-page.ts'
import type { SqliteConnection } from './connection.ts'
import { columnList, toDoc } from './rows.ts'
import { createTable, formatCondition, orderIndexName, quoted, type SqlTable, sortKeys } from './tables.ts'

/**
 * Rows of an order along the order's own index; each skipped row costs some 30 ns. Only the start of a range
 * matters here, because rows are read sequentially and at most `limit`.
 */
export function rankedRows<I extends StateIndex>(
  connection: SqliteConnection,
  { index, name, order, group }: Ranking<I>,
  { range, skip, limit }: RankingRows,
): readonly DocOf<I>[] {
  const named = group === undefined ? [] : [group]
  const counts = [BigInt(limit), BigInt(skip)]
  const { after } = range ?? {}
  const { table, all, rest } =
    statements.get(`${index.name}.${name}`) ?? buildStatements(createTable(index), name, order)
  const rows =
    after === undefined
      ? connection.rows(all, ...named, ...counts)
      : connection.rows(rest, ...named, after.amount, after.name, ...named, after.amount, ...counts)
  // Rows of an index's table are its documents.
  return rows.map(cells => toDoc(table, cells) as DocOf<I>)
}

/** The statements that read an order from its top, and from a standing on. */
type Statements = { readonly table: SqlTable; readonly all: string; readonly rest: string }

/** Cached statements by index and order. */
const statements = new Map<string, Statements>()

function buildStatements(table: SqlTable, name: string, order: Order): Statements {
  const all = rankSql(table, name, order)
  const rest = order.counted ? rankAfterSql(table, name, order) : ''
  statements.set(`${table.name}.${name}`, { table, all, rest })
  return { table, all, rest }
}

/** Parameters: the group if there is one, then limit and offset. */
export function rankSql(table: SqlTable, orderName: string, order: Order): string {
  const all = alongIndex(table, orderName, order)([])
  return byId(table, order, `${all} ORDER BY ${sortKeys(order)} LIMIT ? OFFSET ?`)
}

/**
 * Parameters: the group if there is one, an amount and a name; again the group and the amount; limit and
 * offset. It reads two ranges of the index: the members with the same amount beyond the name, then the rest.
 * Thus an amount that thousands of members share is not scanned.
 */
export function rankAfterSql(table: SqlTable, orderName: string, order: Order): string {
  const fields = standingFields(order)
  const [amount, name] = [quoted(fields.amount), quoted(fields.member)]
  const run = alongIndex(table, orderName, order)
  const ties = run([`${amount} = ?`, `${name} > ?`])
  const rest = run([`${amount} < ?`])
  return byId(table, order, `${ties} UNION ALL ${rest} ORDER BY ${sortKeys(order)} LIMIT ? OFFSET ?`)
}

/**
 * Selects ids along the index of an order, with additional conditions. INDEXED BY makes a plan without the
 * index an error instead of a slow answer.
 */
function alongIndex(table: SqlTable, orderName: string, order: Order) {
  const keys = order.by.map(([field]) => quoted(field)).join(', ')
  const own = [
    ...(order.group === undefined ? [] : [`${quoted(order.group)} = ?`]),
    ...[formatCondition(order)].filter(condition => condition !== undefined),
  ]
  return (more: readonly string[]): string => {
    const conditions = [...own, ...more]
    return (
      `SELECT "id" AS "ranked", ${keys} FROM ${quoted(table.name)}` +
      ` INDEXED BY ${quoted(orderIndexName(table.name, orderName))}` +
      (conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`)
    )
  }
}

// The inner query takes the ids from the index alone, so that skipped rows need no look-up. The outer sort is
// of `limit` rows.
const byId = (table: SqlTable, order: Order, ids: string): string =>
  `SELECT ${columnList(table, 'r')} FROM (${ids})` +
  ` CROSS JOIN ${quoted(table.name)} AS "r" ON "r"."id" = "ranked" ORDER BY ${sortKeys(order, 'r')}`
