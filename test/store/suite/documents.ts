import { expect, test } from 'bun:test'
import { hash8 } from '#chain/hash.ts'
import { balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import { transactionId } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import type { Key, StateChange } from '#indices/registry.ts'
import { tokens } from '#indices/token.ts'
import { transactions } from '#indices/transaction.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { hashOf } from '#test/support/stores/hand-made.ts'
import {
  balanceDoc,
  batchOf,
  blockDoc,
  identity,
  MAX,
  MIN,
  oddIds,
  oddTexts,
  recordDoc,
  samples,
  timeOf,
  tokenDoc,
  transactionDoc,
} from './fixture.ts'
import { type Open, shareStore } from './harness.ts'

const keysOf = (changes: readonly StateChange[]): readonly Key[] =>
  changes.map(({ index, doc }) => ({ index, id: doc.id }))

const odd = oddIds.flatMap((id, at): readonly StateChange[] => [
  { index: tokens, doc: tokenDoc(id, { full_name: oddTexts[at] ?? '' }) },
  { index: balances, doc: balanceDoc(id, 'odd', { amount: BigInt(at) }) },
])
const texts = oddTexts.map(
  (text, at): StateChange => ({ index: tokens, doc: tokenDoc(`text${at}`, { full_name: text, issuer: text }) }),
)
const loneSurrogates: StateChange = {
  index: tokens,
  doc: tokenDoc('lone', { full_name: 'a\ud800b\udc00', issuer: '\udfff' }),
}
const HASH = hashOf('one')
/** Written in block 0 with all optional fields, in block 1 with none. Rows likewise. */
const history = {
  blocks: [
    blockDoc(0, { gas_usage: MAX, base: '{"time":1}', base_hash8: MIN, info: '{"a":[1]}' }),
    blockDoc(1, { gas_usage: MIN, tx_count: Number.MAX_SAFE_INTEGER }),
  ],
  transactions: [
    ...oddTexts.map((body, tx) => transactionDoc(1, tx, { body })),
    transactionDoc(1, oddTexts.length, { hash: HASH, hash8: hash8(HASH) }),
    // Another hash that begins with the same bytes.
    transactionDoc(1, oddTexts.length + 1, { hash: hashOf('another'), hash8: hash8(HASH) }),
  ],
  records: [
    recordDoc(0, 0, { amount: '0.00000001', creator: 'alice', receipt: 0, places: [MAX, 1n] }),
    recordDoc(1, 0, { overflow: true, contract: '', action_name: '', data: '', return: '' }),
    ...oddTexts.map((data, at) => recordDoc(1, at + 1, { data, return: data, status_code: data })),
  ],
}

/** Every document is read back unchanged. */
export function documentCases(open: Open): void {
  const { read, ...shared } = shareStore(open, writer => {
    const iost: StateChange = { index: tokens, doc: tokenDoc('iost') }
    const changes = [...samples, ...odd, ...texts, loneSurrogates, iost]
    return commitBatch(writer, batchOf(0, 1, { ...history, changes }))
  })

  test('get: documents of every index are those committed, without absent fields', async () => {
    const changes = [...samples, ...odd, ...texts]
    const got = await read(view => Promise.all(changes.map(({ index, doc }) => view.get(index, doc.id))))
    expect<unknown>(got).toStrictEqual(changes.map(({ doc }) => doc))
  })

  test('get: history documents are those committed, with their list positions in order', async () => {
    const toIds = (docs: readonly { readonly id: string }[]) => docs.map(({ id }) => id)
    const got = await read(async view => ({
      blocks: await view.getMany(blocks, toIds(history.blocks)),
      transactions: await view.getMany(transactions, toIds(history.transactions)),
      records: await view.getMany(records, toIds(history.records)),
    }))
    expect<unknown>(got).toStrictEqual(history)
  })

  test('get: lone surrogates, which UTF-8 cannot contain, are read as U+FFFD', async () => {
    expect(await read(view => view.get(tokens, 'lone'))).toEqual(
      tokenDoc('lone', { full_name: 'a\ufffdb\ufffd', issuer: '\ufffd' }),
    )
  })

  test('getMany: order, duplicates and gaps are kept, also among a thousand ids; ids are exact, and separate per index', async () => {
    const none = ['alice', 'IOST', 'iost ', 'hasOwnProperty', 'y'.repeat(2000), '', '\udfff']
    const got = await read(view => view.getMany(tokens, ['12345', 'no such', '__proto__', '12345', ...none]))
    const doc = (id: string) => odd.find(change => change.index === tokens && change.doc.id === id)?.doc
    expect<unknown>(got.slice(0, 4)).toEqual([doc('12345'), undefined, doc('__proto__'), doc('12345')])
    expect<unknown>(got.slice(4)).toEqual(none.map(() => undefined))
    expect(await read(view => view.getMany(tokens, []))).toEqual([])
    expect(await read(view => view.get(blocks, '1'))).toBeUndefined()
    const many = Array.from({ length: 1000 }, (_, at) => (at % 2 === 0 ? 'iost' : `no-${at}`))
    const found = await read(view => view.getMany(tokens, many))
    expect(found.map(each => each?.id)).toEqual(many.map(id => (id === 'iost' ? id : undefined)))
  })

  test('writer.openState: the state of all indices is there; transactionsOf: transactions are found by hash', async () => {
    const other = await shared.reopen()
    await shared.close()
    const writer = await other.takeOver(identity)
    // Signers may write any text in place of a name, and such texts are looked up, too.
    const unlikely = ['no such', '', 'y'.repeat(2000), '\ud800'].map(id => ({ index: tokens, id }))
    const keys: readonly Key[] = [...keysOf(samples), ...unlikely, ...keysOf(odd)]
    const state = await writer.openState()
    expect<unknown>(keys.map(({ index, id }) => state.get(index, id))).toEqual([
      ...samples.map(({ doc }) => doc),
      ...unlikely.map(() => undefined),
      ...odd.map(({ doc }) => doc),
    ])
    const found = await writer.transactionsOf([HASH, hashOf('no such')])
    expect(found.map(({ id }) => id)).toEqual([transactionId(1, oddTexts.length)])
    expect(await writer.transactionsOf([])).toEqual([])
    expect(writer.checkpoint?.time).toBe(timeOf(1))
  })
}
