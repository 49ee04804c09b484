import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { LoadedBlock, Transaction } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import type { LoadOptions } from '#load/session.ts'
import type { BlockSource } from '#node/port.ts'
import type { ProofRecord, Published } from '#store/published.ts'
import { blockSource } from '#test/support/nodes/block-source.ts'
import { failureOf } from '#test/support/refusal.ts'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { loadOnce, temporarySqlite } from '#test/support/stores/loading.ts'

/** Genesis with two producers, `first00` and `second0`, and their keys. */
function beginning(): Transaction {
  const made = genesis()
  const keys = Object.entries({ first00: 'KEY1', second0: 'KEY2' })
  const init = keys.map(args => action('vote_producer.iost/initProducer', args))
  return { ...made, actions: [...made.actions, ...init], receipt: { ...made.receipt, returns: [] } }
}
const says = (name: string, ...args: readonly unknown[]) =>
  transaction({ receipts: [receipt(`vote_producer.iost/${name}`, args)] })
const registers = (account: string, key: string) => says('applyRegister', account, key, 'loc', 'url', 'net', true)
const changesKey = (account: string, key: string) => says('updateProducer', account, key, 'loc', 'url', 'net')

/** A signed chain. `signs` gives the signer of a height. A block that changes producers must have one. */
const signedChain = (
  lists: readonly (readonly Transaction[])[],
  signs: Readonly<Record<number, string>>,
): readonly LoadedBlock[] =>
  chainOf([beginning()], ...lists).map(loaded => {
    const signedBy = signs[loaded.block.height]
    return { ...loaded, proof: { level: 'signed', ...(signedBy === undefined ? {} : { signedBy }) } }
  })

let opened: Awaited<ReturnType<typeof temporarySqlite>>
beforeEach(async () => {
  opened = await temporarySqlite()
  await opened.store.create()
})
afterEach(() => opened.destroy())

const load = (node: BlockSource, options?: Partial<LoadOptions>) => loadOnce(node, opened.store, options)
const loading = (blocks: readonly LoadedBlock[], options?: Partial<LoadOptions>) => load(blockSource(blocks), options)
const height = async () => (await opened.store.published())?.height ?? 0
const proved = async () => (await opened.store.published())?.proved
async function refused(loaded: Promise<unknown>): Promise<string> {
  const { kind, message } = await failureOf(loaded)
  expect(kind).toBe('bad_block')
  return message
}
const EMPTY: readonly (readonly Transaction[])[] = Array(4).fill([])
const ONE_BLOCK = { batch: { documents: 1, bytes: 1 } }

describe('the accepted signatures', () => {
  test('each of several keys of genesis is accepted, in batches of any size', async () => {
    const blocks = signedChain(EMPTY, { 2: 'KEY2', 4: 'KEY1' })
    expect(await loading(blocks, ONE_BLOCK)).toEqual({ height: 4 })
    expect((await proved())?.ranges).toEqual([{ from: 0, to: 4, level: 'signed' }])
  })

  test('a key registered by a forged block is accepted neither for that block nor for later ones', async () => {
    const forged = [[], [registers('forger0', 'FORGED'), says('approveRegister', 'forger0')], [], []]
    // The whole run is one batch, or each block is, with any forged signatures.
    for (const signs of [
      { 2: 'FORGED', 4: 'FORGED' },
      { 1: 'KEY1', 2: 'FORGED', 4: 'FORGED' },
      { 1: 'KEY1', 4: 'FORGED' },
    ])
      for (const options of [{}, ONE_BLOCK]) {
        const message = await refused(loading(signedChain(forged, signs), options))
        expect(message).toContain('FORGED, which is not the key of any producer')
        expect(await height()).toBeLessThan(2)
      }
  })

  test('the key of an applying producer is accepted after the chain has approved the producer', async () => {
    const applied = [[registers('anybody', 'ANY')], []]
    expect(await refused(loading(signedChain(applied, { 1: 'KEY1', 2: 'ANY' })))).toContain('ANY')
    const approved = [[registers('anybody', 'ANY')], [], [says('approveRegister', 'anybody')], []]
    expect(await loading(signedChain(approved, { 1: 'KEY1', 3: 'KEY2', 4: 'ANY' }))).toEqual({ height: 4 })
  })

  test('a replaced key is accepted until the next election of witnesses, also by a later loader', async () => {
    const LAST = 2_402
    const lists = Array.from({ length: LAST }, (_, at) => (at === 1 ? [changesKey('first00', 'KEY3')] : []))
    const old = Object.fromEntries([1, 2, 1300, 2400, 2402].map(height => [height, 'KEY1']))
    const blocks = signedChain(lists, { ...old, 3: 'KEY3' })
    expect(await loading(blocks, { to: 3 })).toEqual({ height: 3 })
    expect((await proved())?.formerKeys).toEqual([{ key: 'KEY1', until: 2_400 }])
    expect(await refused(loading(blocks))).toBe(
      'Block 2402: it is signed with KEY1, which is not the key of any producer as of block 2400.',
    )
    expect(await height()).toBe(2_400)
    expect(await loading(signedChain(lists, { 2402: 'KEY3' }))).toEqual({ height: LAST })
    expect((await proved())?.formerKeys).toEqual([])
  })

  test('unsigned blocks at the end of a node’s answer are not stored', async () => {
    expect(await loading(signedChain(EMPTY, { 2: 'KEY1' }), { to: 2 })).toEqual({ height: 2 })
    const ends = signedChain(EMPTY, { 2: 'KEY1', 4: 'KEY1' })
    const cut: BlockSource = {
      ...blockSource(ends),
      blocks: async function* ({ from }) {
        yield* ends.slice(from, 4)
        throw new Failure('bad_block', 'Block 4: cut.')
      },
    }
    expect(await refused(load(cut))).toBe('Block 4: cut.')
    expect(await height()).toBe(2)
  })

  test('blocks from a store keep their record of proofs', async () => {
    const recorded: ProofRecord = {
      ranges: [
        { from: 1, to: 2, level: 'whole', agreed: true },
        { from: 3, to: 9, level: 'signed' },
      ],
      lost: 0,
      formerKeys: [],
    }
    const blocks = chainOf([beginning()], ...EMPTY)
    expect(await loading(blocks, { recorded, to: 3 })).toEqual({ height: 3 })
    // Without a record, the blocks are only linked, and no signer is checked.
    expect(await loading(blocks)).toEqual({ height: 4 })
    expect((await proved())?.ranges.map(({ from, to, level }) => [from, to, level])).toEqual([
      [0, 0, 'linked'],
      [1, 2, 'whole'],
      [3, 3, 'signed'],
      [4, 4, 'linked'],
    ])
  })

  test('a store without a record continues, and its earlier blocks stay without one', async () => {
    const blocks = signedChain(EMPTY, { 2: 'KEY1', 4: 'KEY1' })
    await loading(blocks, { to: 2 })
    const { proved: _, ...published } = (await opened.store.published()) as Published
    // As an earlier version wrote it.
    const database = new Database(opened.path)
    const former = JSON.stringify({ ...published, time: String(published.time) })
    database.run(`UPDATE "meta" SET "value" = ? WHERE "key" = 'published'`, [former])
    database.close()
    expect(await proved()).toBeUndefined()
    expect(await loading(blocks)).toEqual({ height: 4 })
    expect((await proved())?.ranges).toEqual([{ from: 3, to: 4, level: 'signed' }])
  })
})
