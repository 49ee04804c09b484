import { expect, test } from 'bun:test'
import { SEGMENT_SIZES, segments } from '#indices/segment.ts'
import { series, seriesOf } from '#indices/series.ts'
import { parseEntries } from '#indices/series-entry.ts'
import { memberId } from '#indices/standing.ts'
import { collectionOwners, collections, countOfItems, holdings, items } from '#indices/token721.ts'
import { plainItems, sharesOf } from '#test/support/oracle/items.ts'
import { deriveChain, derivedRecording } from '#test/support/stores/derived-chain.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'

const { state } = await derivedRecording()
const plain = await plainItems()

const said = (name: string, args: readonly string[]) => receipt(`token721.iost/${name}`, args)

test('deriveBlock: owners, metadata and movements of items match a replay', () => {
  expect(plain.items.size).toBe(30)
  expect(new Map(state.all(items).map(({ id, owner, metadata }) => [id, { owner, metadata }]))).toEqual(
    new Map([...plain.items].map(([id, { owner, metadata }]) => [id, { owner, metadata }])),
  )
  for (const [id, { moves }] of plain.items) {
    const past = state.get(series, seriesOf.item(id))
    const changes = parseEntries(past?.entries ?? '', past?.height ?? 0)
    expect(changes.map(({ height, more: [from, to] }) => ({ height, from, to }))).toEqual([...moves])
  }
})

test('deriveBlock: collections count their items, and owners count theirs', () => {
  const issued = [...plain.collections]
  expect(state.all(collections).map(({ symbol, issued: count }) => [symbol, count])).toEqual(issued)
  const counts = new Map<string, number>()
  for (const [id, { owner, moves }] of plain.items) {
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
    expect(state.get(holdings, memberId(owner, id))?.since).toBe((moves.at(-1)?.height ?? 0) + 1)
  }
  for (const [owner, count] of counts) expect(state.get(holdings, countOfItems(owner))?.count).toBe(count)
  expect(state.all(holdings).filter(({ since }) => since > 0)).toHaveLength(plain.items.size)
})

test('deriveBlock: a collection has its owners and the number of items of each', () => {
  const shares = sharesOf(plain.items)
  const present = state.all(collectionOwners).filter(({ count }) => count > 0)
  expect(present.map(({ collection, owner, count }) => [`${collection}/${owner}`, count]).toSorted()).toEqual(
    [...shares].toSorted(),
  )
  for (const { symbol, owner_count } of state.all(collections))
    expect([symbol, owner_count]).toEqual([symbol, present.filter(({ collection }) => collection === symbol).length])
})

test('deriveBlock: an owner whose items are counted in segments can give them away until they fit without segments', () => {
  const many = SEGMENT_SIZES.group * 2
  const given = Array.from({ length: many - 2 }, (_, at) => String(at))
  const each = (texts: readonly string[], sayOf: (text: string) => ReturnType<typeof said>) =>
    texts.map(text => [transaction({ receipts: [sayOf(text)] })])
  const blocks = [
    [transaction({ receipts: [said('create', ['many', 'alice00', String(many)])] })],
    ...each([...given, 'x', 'y'], text => said('issue', ['many', 'alice00', text])),
  ]
  const owned = deriveChain(chainOf([genesis()], ...blocks)).state
  expect(owned.get(holdings, countOfItems('alice00'))?.count).toBe(many)
  expect(owned.all(segments).some(({ id }) => id.includes('alice00'))).toBe(true)
  const gifts = each(given, item => said('transfer', ['many', 'alice00', 'bob0000', item]))
  const { state: after } = deriveChain(chainOf([genesis()], ...blocks, ...gifts))
  expect(after.get(holdings, countOfItems('alice00'))?.count).toBe(2)
  expect(after.get(holdings, countOfItems('bob0000'))?.count).toBe(many - 2)
  expect(after.get(collections, 'many')).toMatchObject({ issued: many, owner_count: 2 })
})

test('deriveBlock: a collection whose owners are counted in segments has none left when one owner has all items', () => {
  const owners = Array.from({ length: SEGMENT_SIZES.group + 100 }, (_, at) => `owner${at}`)
  const blocks = [
    [transaction({ receipts: [said('create', ['wide', 'alice00', '9999'])] })],
    [transaction({ receipts: owners.map(owner => said('issue', ['wide', owner, ''])) })],
  ]
  const { state: spread } = deriveChain(chainOf([genesis()], ...blocks))
  expect(spread.get(collections, 'wide')).toMatchObject({ issued: owners.length, owner_count: owners.length })
  const trees = (of: typeof spread) =>
    of.all(segments).filter(({ id, segments: runs }) => id.endsWith('/wide') && runs.length > 0)
  expect(trees(spread).length).toBeGreaterThan(1)
  const gifts = owners.slice(1).map((owner, at) => said('transfer', ['wide', owner, 'owner0', String(at + 1)]))
  const { state: one } = deriveChain(chainOf([genesis()], ...blocks, [transaction({ receipts: gifts })]))
  expect(one.get(collections, 'wide')?.owner_count).toBe(1)
  expect(one.get(collectionOwners, memberId('wide', 'owner0'))?.count).toBe(owners.length)
  expect(trees(one)).toEqual([])
})

test('deriveBlock: an issuer that transfers the right to issue, as if it were an item, is no longer the issuer', () => {
  const sent = (name: string, args: readonly string[]) => transaction({ receipts: [said(name, args)] })
  const { state: after } = deriveChain(
    chainOf(
      [genesis()],
      [sent('create', ['cats', 'alice00', '9'])],
      [sent('issue', ['cats', 'alice00', 'a']), sent('transfer', ['cats', 'alice00', 'bob0000', 'T721issuer'])],
      [sent('issue', ['cats', 'bob0000', 'b'])],
    ),
  )
  expect(after.get(collections, 'cats')).toMatchObject({ issuer: 'bob0000', issued: 2, owner_count: 2 })
  expect(after.all(items).map(({ id, owner }) => [id, owner])).toEqual([
    ['cats/0', 'alice00'],
    ['cats/1', 'bob0000'],
  ])
  expect(after.get(holdings, countOfItems('bob0000'))?.count).toBe(1)
})

test('deriveBlock: a collection that can never have items keeps its negative supply, as on the chain', () => {
  const { state: after } = deriveChain(
    chainOf([genesis()], [transaction({ receipts: [receipt('token721.iost/create', ['none', 'alice00', -4])] })]),
  )
  expect(after.get(collections, 'none')).toMatchObject({ total_supply: -4n, issued: 0 })
})
