import { Failure } from '#failure/failure.ts'
import { seriesOf } from '#indices/series.ts'
import { memberId } from '#indices/standing.ts'
import {
  type CollectionDoc,
  collections,
  countOfItems,
  holdings,
  ISSUER_FIELD,
  itemId,
  items,
} from '#indices/token721.ts'
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
  if (moved.item === ISSUER_FIELD) {
    state.put(collections, { ...collectionOf(at, moved.symbol), issuer: moved.to })
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

const move = ({ scope }: TxScope, { symbol, item, from, to }: Moved): void => {
  const { series: past } = scope
  const id = itemId(symbol, item)
  const open = () => past.open(seriesOf.item(id), { isNew: from === '' })
  missTogether([open, () => pass(scope, id, { from, to })])
  past.note(open(), 1n, { kind: 'tx', more: [from, to] })
}

/** Writes who has an item, and how many each has. Nothing was changed where state is missing; of an item that is issued there is none. */
const pass = ({ state, block }: Scope, item: string, { from, to }: Pick<Moved, 'from' | 'to'>): void => {
  if (from === to) return
  const owners = [from, to].filter(owner => owner !== '')
  const countOf = (owner: string): number => state.get(holdings, countOfItems(owner))?.count ?? 0
  const memberOf = (owner: string) => (from === '' ? undefined : state.get(holdings, memberId(owner, item)))
  missTogether(owners.flatMap(owner => [() => countOf(owner), () => memberOf(owner)]))
  for (const owner of owners) {
    const isNew = owner === to
    const count = countOf(owner) + (isNew ? 1 : -1)
    state.put(holdings, { id: countOfItems(owner), owner, item: '', since: 0, count })
    const since = isNew ? block.height + 1 : 0
    const member = { id: memberId(owner, item), owner, item, since, count: 0 }
    if (from === '') state.add(holdings, member)
    else state.put(holdings, member)
  }
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
