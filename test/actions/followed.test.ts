import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { type Replay, serveReplay } from '#test/replay/serve.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { type Fault, startFaultyNode } from '#test/support/nodes/faulty-node.ts'
import { recordedBlocks, recording } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'
import { fillFromRecording } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

/** A store that has the first hundred blocks, and a node that has all of them. */
const HEIGHT = 100
const { store, destroy } = await temporarySqlite()
let replay: Replay
let node: Node

beforeAll(async () => {
  await fillFromRecording(store, { to: HEIGHT })
  replay = serveReplay({ recording: await recording() })
  node = createNode({ urls: [replay.url], clock: handClock() })
  await node.watch(() => store.identity())
})

afterAll(async () => {
  node.close()
  await replay.stop()
  await destroy()
})

const asked = (action: string, params: Readonly<Record<string, string>> = {}) =>
  ask(action, params, { deps: { store, node } })

describe('a service that follows a node', () => {
  test("get-transaction-detail: a transaction that is not stored yet is answered with the node's object", async () => {
    const block = (await recordedBlocks())[804]?.block
    const tx = block?.transactions[1]
    const said = await asked('get-transaction-detail', { tx_hash: tx?.hash ?? '' })
    expect({ status: said.status, block: said.block_number, hash: said.transaction.hash }).toEqual({
      status: 'IRREVERSIBLE',
      block: '804',
      hash: tx?.hash,
    })
    expect(said).toEqual(await ask('get-transaction-detail', { tx_hash: tx?.hash ?? '' }))
  })
  test("get-block-detail: a block above the published one is answered with the node's object, by number and by hash", async () => {
    const whole = await ask('get-block-detail', { number: '804' })
    for (const params of [{ number: '804' }, { hash: whole.block.hash }])
      expect(await asked('get-block-detail', params)).toEqual(whole)
    expect(await asked('get-block-tx', { number: '804' })).toEqual(await ask('get-block-tx', { number: '804' }))
  })
  test('lists: a range beyond the loaded height is refused as loading while the load is far behind', async () => {
    const lists = [
      ['get-account-tx', { account: 'admin' }],
      ['get-contract-tx', { contract: 'token.iost' }],
      ['get-subaccount-list', { account: 'admin' }],
    ] as const
    for (const [action, params] of lists) {
      const beyond = (range: Readonly<Record<string, string>>) => refusal(asked(action, { ...params, ...range }))
      expect(await beyond({ start_block: '101' })).toEqual({
        kind: 'loading',
        en: "The data for 'start_block' 101 is not available yet: loaded up to block 100 of 4851.",
        zh: "区间端点 'start_block' 101 暂不可用：目前已加载到区块 100，最新的不可逆区块为 4851。",
      })
      expect(await beyond({ end_block: '4000' })).toMatchObject({ kind: 'loading' })
      expect(await beyond({ start_time: '2100-01-01T00:00:00Z' })).toMatchObject({ kind: 'loading' })
      const { total } = await asked(action, { ...params, end_block: '100' })
      expect(await beyond({ end_seq: `${Number(total) + 1}` })).toMatchObject({ kind: 'loading' })
      expect(await beyond({ start_seq: `${Number(total) + 2}` })).toMatchObject({ kind: 'loading' })
      const after = { ...params, sort: 'asc', start_seq: `${Number(total) + 1}` }
      expect(await asked(action, after)).toHaveProperty('total', 0)
    }
  })
  test('get-latest-block, get-overview: the head of the chain is reported beside the published height', async () => {
    expect((await asked('get-latest-block')).block.number).toBe(4851)
    const { head_block, lib_block } = await asked('get-overview')
    expect({ head_block, lib_block }).toEqual({ head_block: '4851', lib_block: HEIGHT })
  })
  test('unknown names, blocks and transactions are reported as not loaded yet', async () => {
    const zh = '目前已加载到区块 100，最新的不可逆区块为 4851。'
    expect(await refusal(asked('get-account-detail', { account: 'busyhub' }))).toEqual({
      kind: 'loading',
      en: "Account 'busyhub' is not available yet: loaded up to block 100 of 4851.",
      zh: `账户 'busyhub' 暂不可用：${zh}`,
    })
    expect((await refusal(asked('get-block-detail', { number: '4852' }))).kind).toBe('loading')
    const tx_hash = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
    expect((await refusal(asked('get-transaction-action', { tx_hash }))).kind).toBe('loading')
  })
})

describe('a transaction above the published height', () => {
  const AT = 804
  const transaction = async () => {
    const tx = (await recordedBlocks())[AT]?.block.transactions[1]
    if (tx === undefined) throw new Error(`Block ${AT} has no second transaction.`)
    return tx
  }
  /** The answer for this transaction when the node's responses on some paths are altered. */
  const beside = (fault: Fault) =>
    besideNode(fault, async deps => {
      const { hash } = await transaction()
      const said = ask('get-transaction-detail', { tx_hash: hash }, { deps })
      return said.catch(async () => (await refusal(said)).kind)
    })
  const besideNode = async <T>(
    fault: Fault,
    work: (deps: { readonly store: Store; readonly node: Node }) => Promise<T>,
  ): Promise<T> => {
    const faulty = await startFaultyNode(fault)
    const lying = createNode({ urls: [faulty.url], clock: handClock() })
    await lying.watch(() => store.identity())
    try {
      return await work({ store, node: lying })
    } finally {
      lying.close()
      await faulty[Symbol.asyncDispose]()
    }
  }
  const changing =
    (call: RegExp, change: (text: string) => string): Fault =>
    async ({ path }, truth) =>
      call.test(path) ? new Response(change(await truth())) : undefined
  const byHash = /^\/getTxByHash\//
  const inBlock = new RegExp(`^/getBlockByNumber/${AT}/true`)

  test("is answered as its block proves it, even if the node's answer by hash differs", async () => {
    const { hash } = await transaction()
    const right = await asked('get-transaction-detail', { tx_hash: hash })
    const forged = changing(byHash, text => text.replace(/"message": ?"[^"]*"/, '"message":"forged"'))
    expect(await beside(forged)).toEqual(right)
  })
  test('is PACKED, without a number, in a block that is not irreversible', async () => {
    const packed = changing(inBlock, text => text.replace('"IRREVERSIBLE"', '"PENDING"'))
    const { status, block_number } = await beside(packed)
    expect({ status, block_number }).toEqual({ status: 'PACKED', block_number: '-1' })
  })
  test('search: a match above the published height reports whether it is irreversible', async () => {
    const { hash } = await transaction()
    const block = (await recordedBlocks())[AT]?.block.hash ?? ''
    const statuses = async (nodeFault: Fault) => {
      const said = await besideNode(nodeFault, async deps => {
        const found = []
        for (const text of [String(AT), block, hash]) found.push(await ask('search', { text }, { deps }))
        return found
      })
      return said.map(({ matches }) =>
        matches
          .filter((match: { readonly exact: boolean }) => match.exact)
          .map((match: { readonly type: string; readonly status: string }) => [match.type, match.status]),
      )
    }
    const of = (status: string) => [[['block', status]], [['block', status]], [['transaction', status]]]
    expect(await statuses(() => undefined)).toEqual(of('IRREVERSIBLE'))
    const packed = changing(new RegExp(`^/getBlockBy(?:Number/${AT}|Hash/${block})/true`), text =>
      text.replace('"IRREVERSIBLE"', '"PENDING"'),
    )
    expect(await statuses(packed)).toEqual(of('PACKED'))
  })
  test.each([
    ['another block is named', changing(byHash, text => text.replace(`"${AT}"`, `"${AT + 1}"`))],
    ['the block is not one', changing(inBlock, text => text.replace(/"gas_usage": ?\d+/g, '"gas_usage":7'))],
    ['a text of it was forged', changing(inBlock, text => text.replace(/"gas_limit": ?\d+/g, '"gas_limit":7'))],
  ] as const)('is refused when %s', async (_, fault) => {
    expect(await beside(fault)).toBe('bad_block')
  })
})
