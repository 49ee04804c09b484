import { Failure } from '#failure/failure.ts'
import type { Index, Order } from '#indices/define.ts'
import { type SegmentsDoc, segmentAt, segments, segmentsId } from '#indices/segment.ts'
import { beginOf, type Standing, standingFields } from '#indices/standing.ts'
import { lacking } from '#store/lacking.ts'
import type { Connection } from './connection.ts'
import { getById } from './read.ts'
import { columnList, toDoc } from './rows.ts'
import { orderIndexName, positiveCondition, quoted, sortKeys, type Table, tableOf } from './tables.ts'

export type Rank = { readonly group?: string; readonly offset: number; readonly limit: number }
export type RankAfter = Rank & { readonly after: Standing }

/** Rows passed over without asking where a page begins: some 20 µs. */
const NEAR = 512

/**
 * `limit` documents of an order after the first `offset`, along the order's own index. Rows that are passed over cost
 * some 30 ns each; in a counted order they are never more than a segment has.
 */
export const rank = (
  connection: Connection,
  index: Index,
  orderName: string,
  options: Rank,
): readonly object[] => {
  const { group, offset, limit } = options
  const order = index.orders[orderName]
  const table = tableOf(index)
  const named = `${index.name}.${orderName}`
  if (order === undefined) throw new Failure('defect', `There is no order ${named}.`)
  if ((order.group === undefined) !== (group === undefined))
    throw new Failure(
      'defect',
      `Order ${named} is read ${order.group === undefined ? 'without' : 'with'} a group.`,
    )
  for (const value of [offset, limit])
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Failure('defect', `Order ${named}: offset or limit ${value} is not a count.`)
  if (order.counted && offset > NEAR) {
    const begin = beginning(connection, index, group, offset)
    if (begin === 'beyond') return []
    if (begin?.after !== undefined)
      return rankAfter(connection, index, orderName, { ...options, offset: begin.skip, after: begin.after })
  }
  const sql = rankSql(table, orderName, order)
  const rows = connection.rows(sql, ...(group === undefined ? [] : [group]), BigInt(limit), BigInt(offset))
  return rows.map(cells => toDoc(table, cells))
}

/** Where the segment with the member at `offset` begins, and how many of its members are passed over. */
const beginning = (connection: Connection, index: Index, group = '', offset: number) => {
  const read = (leaf: number): SegmentsDoc['segments'] | undefined =>
    (getById(connection, segments, segmentsId(index.name, leaf, group)) as SegmentsDoc | undefined)?.segments
  const root = read(0)
  if (root === undefined || root.length === 0) return undefined
  const inRoot = segmentAt(root, offset)
  if (inRoot === undefined) return 'beyond'
  const found = segmentAt(read(inRoot.segment[3] ?? 0) ?? [], inRoot.skip)
  if (found === undefined) throw lacking(`Segments of ${index.name} ${group} do not add up.`)
  return { after: beginOf(found.segment), skip: found.skip }
}

/** As `rank`, with `offset` counted from right after a standing. */
export const rankAfter = (
  connection: Connection,
  index: Index,
  orderName: string,
  { group, offset, limit, after }: RankAfter,
): readonly object[] => {
  const table = tableOf(index)
  const order = index.orders[orderName]
  if (order === undefined) throw new Failure('defect', `There is no order ${index.name}.${orderName}.`)
  const named = group === undefined ? [] : [group]
  const sql = rankAfterSql(table, orderName, order)
  return connection
    .rows(sql, ...named, after.amount, after.name, ...named, after.amount, BigInt(limit), BigInt(offset))
    .map(cells => toDoc(table, cells))
}

/** Takes the group if there is one, then limit and offset. */
export const rankSql = (table: Table, orderName: string, order: Order): string =>
  byId(table, order, `${fromIndex(table, orderName, order, [])} ORDER BY ${sortKeys(order)} LIMIT ? OFFSET ?`)

/**
 * Takes the group if there is one, an amount and a name; again the group and the amount; limit and offset. Two runs of
 * the index, because an amount that thousands share must not be walked: its own members beyond the name, then the rest.
 */
export const rankAfterSql = (table: Table, orderName: string, order: Order): string => {
  const fields = standingFields(order)
  const [amount, name] = [quoted(fields.amount), quoted(fields.member)]
  const ties = fromIndex(table, orderName, order, [`${amount} = ?`, `${name} > ?`])
  const rest = fromIndex(table, orderName, order, [`${amount} < ?`])
  return byId(table, order, `${ties} UNION ALL ${rest} ORDER BY ${sortKeys(order)} LIMIT ? OFFSET ?`)
}

// INDEXED BY makes a plan without the index an error instead of a slow answer.
const fromIndex = (table: Table, orderName: string, order: Order, more: readonly string[]): string => {
  const conditions = [
    ...(order.group === undefined ? [] : [`${quoted(order.group)} = ?`]),
    ...[positiveCondition(order)].filter(condition => condition !== undefined),
    ...more,
  ]
  const keys = order.by.map(([field]) => quoted(field)).join(', ')
  return (
    `SELECT "id" AS "ranked", ${keys} FROM ${quoted(table.name)}` +
    ` INDEXED BY ${quoted(orderIndexName(table.name, orderName))}` +
    (conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`)
  )
}

// The ids first, out of the index alone: rows that are passed over cost no look-up of their own. The outer sort is of
// `limit` rows.
const byId = (table: Table, order: Order, ids: string): string =>
  `SELECT ${columnList(table, 'r')} FROM (${ids})` +
  ` CROSS JOIN ${quoted(table.name)} AS "r" ON "r"."id" = "ranked" ORDER BY ${sortKeys(order, 'r')}`
