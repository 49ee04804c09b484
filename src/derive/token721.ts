import { Failure } from '#failure/failure.ts'
import { memberId } from '#indices/standing.ts'
import { type CollectionDoc, collections, holdings, itemId, items, itemsOf, ownersOf } from '#indices/token721.ts'
import { seriesOf } from '#indices/series.ts'
import { digitsAt, type Said, textAt } from './receipt.ts'
import type { Scope, TxScope } from './scope.ts'
import { missTogether } from './state.ts'

/** An item that changes hands; `from` is `""` where it is issued. */
type Moved = { readonly symbol: string; readonly item: string; readonly from: string; readonly to: string }

/** Applies a receipt of token721.iost: `create [symbol, issuer, total]`, `issue [symbol, to, metadata]`, `transfer [symbol, from, to, id]`. */
export const applyToken721 = (at: TxScope, said: Said): void => {
  switch (said.name) {
    case 'create':
      create(at, said)
      return
    case 'issue':
      issue(at, said)
      return
    case 'transfer':
      transfer(at, said)
  }
}

const create = ({ scope, tx }: TxScope, { args }: Said): void => {
  const symbol = textAt(args, 0) ?? ''
  const total = digitsAt(args, 2) ?? ''
  scope.state.put(collections, {
    id: symbol,
    symbol,
    issuer: textAt(args, 1) ?? '',
    total_supply: /^\d+$/.test(total) ? BigInt(total) : 0n,
    issued: 0,
    holder_count: 0,
    height: scope.block.height,
    time: scope.block.time,
    tx_hash: tx.hash,
  })
  scope.statistics.collection_count += 1
}

/** The receipt lacks the id: it is the number of the items before. */
const issue = (at: TxScope, said: Said): void => {
  const { scope, tx } = at
  const { state, block } = scope
  const [symbol, owner] = [textOf(at, said, 0), textOf(at, said, 1)]
  const collection = collectionOf(at, symbol)
  const item = String(collection.issued)
  state.put(collections, { ...collection, issued: collection.issued + 1 })
  state.add(items, {
    id: itemId(symbol, item),
    owner,
    metadata: textOf(at, said, 2),
    height: block.height,
    time: block.time,
    tx_hash: tx.hash,
  })
  move(at, { symbol, item, from: '', to: owner })
}

const transfer = (at: TxScope, said: Said): void => {
  const { state } = at.scope
  const moved = {
    symbol: textOf(at, said, 0),
    item: textOf(at, said, 3),
    from: textOf(at, said, 1),
    to: textOf(at, said, 2),
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

const move = ({ scope }: TxScope, moved: Moved): void => {
  const { symbol, item, from, to } = moved
  const { series: past } = scope
  const keys = [seriesOf.collection(symbol), seriesOf.item(symbol, item)] as const
  missTogether([() => past.open(keys[0]), () => past.open(keys[1]), () => changeHolders(scope, moved)])
  past.note(past.open(keys[0]), 1n, { kind: 'tx', more: [item, from, to] })
  past.note(past.open(keys[1]), 1n, { kind: 'tx', more: [from, to] })
}

/** Counts who has how many, and which. Nothing was changed where state is missing. */
const changeHolders = (scope: Scope, { symbol, item, from, to }: Moved): void => {
  if (from === to) return
  const { state } = scope
  const countOf = (owner: string): bigint =>
    state.get(holdings, memberId(ownersOf(symbol), owner))?.amount ?? 0n
  const owners = [from, to].filter(owner => owner !== '')
  missTogether(
    owners.flatMap(owner => [
      () => countOf(owner),
      () => state.get(holdings, memberId(itemsOf(symbol, owner), item)),
    ]),
  )
  let gained = 0
  for (const owner of owners) {
    const [before, change] = [countOf(owner), owner === to ? 1n : -1n]
    const group = ownersOf(symbol)
    const count = { id: memberId(group, owner), group, member: owner, amount: before + change, owner, symbol }
    state.put(holdings, count)
    const own = itemsOf(symbol, owner)
    const amount = owner === to ? BigInt(item) + 1n : 0n
    state.put(holdings, { id: memberId(own, item), group: own, member: item, amount, owner: '', symbol: '' })
    gained += Number(count.amount > 0n) - Number(before > 0n)
  }
  const collection = state.get(collections, symbol)
  if (collection !== undefined && gained !== 0)
    state.put(collections, { ...collection, holder_count: collection.holder_count + gained })
}

const collectionOf = (at: TxScope, symbol: string): CollectionDoc => {
  const found = at.scope.state.get(collections, symbol)
  if (found === undefined)
    throw new Failure(
      'defect',
      `Block ${at.scope.block.height} issues an item of collection "${symbol}", which was never created.`,
    )
  return found
}

const textOf = ({ scope, tx }: TxScope, said: Said, place: number): string => {
  const text = textAt(said.args, place)
  if (text !== undefined) return text
  throw new Failure(
    'bad_block',
    `Block ${scope.block.height}, transaction ${tx.hash}: receipt ${said.contract}/${said.name} has no usable argument ${place}.`,
  )
}
