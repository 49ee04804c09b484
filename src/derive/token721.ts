import { Failure } from '#failure/failure.ts'
import { seriesOf } from '#indices/series.ts'
import { memberId } from '#indices/standing.ts'
import {
  type CollectionDoc,
  collectionOwners,
  collections,
  countOfItems,
  holdings,
  ISSUER_FIELD,
  itemId,
  items,
} from '#indices/token721.ts'
import { findDigits, findText, type ParsedReceipt, requireTextArgument } from './receipt.ts'
import type { TxScope } from './scope.ts'

/** `create [symbol, issuer, total]`, `issue [symbol, to, metadata]` or `transfer [symbol, from, to, id]`. */
export function applyToken721(at: TxScope, parsed: ParsedReceipt): void {
  if (parsed.name === 'create') create(at, parsed)
  else if (parsed.name === 'issue') issue(at, parsed)
  else if (parsed.name === 'transfer') transfer(at, parsed)
}

function create({ scope, tx }: TxScope, { args }: ParsedReceipt): void {
  const symbol = findText(args, 0) ?? ''
  const total = findDigits(args, 2) ?? ''
  scope.state.put(collections, {
    id: symbol,
    symbol,
    issuer: findText(args, 1) ?? '',
    total_supply: /^-?\d+$/.test(total) ? BigInt(total) : 0n,
    issued: 0,
    owner_count: 0,
    height: scope.block.height,
    time: scope.block.time,
    tx_hash: tx.hash,
  })
  scope.statistics.collection_count += 1
}

/** The receipt lacks the item's id, which is the number of items issued before. */
function issue(at: TxScope, parsed: ParsedReceipt): void {
  const { scope, tx } = at
  const { state, block } = scope
  const [symbol, owner] = [requireTextArgument(at, parsed, 0), requireTextArgument(at, parsed, 1)]
  const collection = getCollection(at, symbol)
  const item = String(collection.issued)
  state.put(collections, { ...collection, issued: collection.issued + 1 })
  state.add(items, {
    id: itemId(symbol, item),
    owner,
    metadata: requireTextArgument(at, parsed, 2),
    height: block.height,
    time: block.time,
    tx_hash: tx.hash,
  })
  move(at, { symbol, item, from: '', to: owner })
}

function transfer(at: TxScope, parsed: ParsedReceipt): void {
  const { state } = at.scope
  const moved = {
    symbol: requireTextArgument(at, parsed, 0),
    item: requireTextArgument(at, parsed, 3),
    from: requireTextArgument(at, parsed, 1),
    to: requireTextArgument(at, parsed, 2),
  }
  if (moved.item === ISSUER_FIELD) {
    state.put(collections, { ...getCollection(at, moved.symbol), issuer: moved.to })
    return
  }
  const id = itemId(moved.symbol, moved.item)
  const doc = state.get(items, id)
  if (doc?.owner !== moved.from)
    throw new Failure(
      'defect',
      `Block ${at.scope.block.height}, transaction ${at.tx.hash}: "${moved.from}" gives item ${id}, which is of "${doc?.owner ?? ''}".`,
    )
  state.put(items, { ...doc, owner: moved.to })
  move(at, moved)
}

/**
 * Writes an item's owner, and the numbers of items and owners that follow; `from` is `""` for an issue. An item being
 * issued has no state yet.
 */
function move(
  at: TxScope,
  { symbol, item: number, from, to }: { symbol: string; item: string; from: string; to: string },
): void {
  const { state, block, series: past } = at.scope
  const item = itemId(symbol, number)
  past.note(past.open(seriesOf.item(item), { isNew: from === '' }), 1n, { kind: 'tx', more: [from, to] })
  if (from === to) return
  const owners = [from, to].filter(owner => owner !== '')
  const countOf = (owner: string): number => state.get(holdings, countOfItems(owner))?.count ?? 0
  const shareOf = (owner: string): number => state.get(collectionOwners, memberId(symbol, owner))?.count ?? 0
  let more = 0
  for (const owner of owners) {
    const isNew = owner === to
    const step = isNew ? 1 : -1
    state.put(holdings, { id: countOfItems(owner), owner, item: '', since: 0, count: countOf(owner) + step })
    const since = isNew ? block.height + 1 : 0
    const member = { id: memberId(owner, item), owner, item, since, count: 0 }
    if (from === '') state.add(holdings, member)
    else state.put(holdings, member)
    const [had, has] = [shareOf(owner), shareOf(owner) + step]
    state.put(collectionOwners, { id: memberId(symbol, owner), collection: symbol, owner, count: has })
    more += Math.sign(has) - Math.sign(had)
  }
  if (more === 0) return
  const collection = getCollection(at, symbol)
  state.put(collections, { ...collection, owner_count: collection.owner_count + more })
}

function getCollection(at: TxScope, symbol: string): CollectionDoc {
  const found = at.scope.state.get(collections, symbol)
  if (found === undefined)
    throw new Failure('defect', `Block ${at.scope.block.height} names collection "${symbol}", which was never created.`)
  return found
}
