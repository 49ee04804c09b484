import { expect, test } from 'bun:test'
import { decodeRawHeads, headHashBytes } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'
import { signingKey, signText } from '../generator/signing.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forgedChain, type Written } from '../support/nodes/forged-chain.ts'
import { loadUnpaused } from '../support/nodes/load-unpaused.ts'
import { json } from '../support/nodes/read-blocks.ts'
import { recording } from '../support/nodes/recording.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

const END = 60
const OWN = signingKey(1, 1)

/** A node with the recorded chain whose last block is forged and signed with the forger's key. */
async function startForger(alter: (block: Written) => void) {
  const forgery = {
    height: END,
    rehashed: true,
    alter: (block: Written) => {
      block['witness'] = OWN.key
      alter(block)
    },
  }
  const signed = (text: string): string => {
    const answer = JSON.parse(text) as { block_list: { sign: unknown }[] }
    decodeRawHeads(text).forEach((head, at) => {
      const entry = answer.block_list[at]
      if (head.height === END && entry !== undefined) entry.sign = JSON.parse(signText(headHashBytes(head), OWN))
    })
    return JSON.stringify(answer)
  }
  return startFaultyNode(
    async ({ path }, truth) => (path === '/getBlockHeaderByRange' ? json(signed(await truth())) : undefined),
    undefined,
    forgedChain(await recording(), forgery, END),
  )
}

const loading = (urls: readonly string[], store: Store) => loadUnpaused(urls, store, { to: END })

function registers(block: Written): void {
  block.transactions[0]?.tx_receipt.receipts.unshift(
    { func_name: 'vote_producer.iost/applyRegister', content: `["forger0","${OWN.key}","loc","url","net",true]` },
    { func_name: 'vote_producer.iost/approveRegister', content: '["forger0"]' },
  )
}

for (const [name, alter] of [
  ['a block signed with a key of its own', () => undefined],
  ['a block that registers the key it is signed with', registers],
] as const)
  test(`a node that forges ${name} is refused, earlier blocks are stored, and the load continues with an honest node`, async () => {
    const { store, destroy } = await temporarySqlite()
    {
      await using forger = await startForger(alter)
      const refused = await loading([forger.url], store)
      expect(refused).toBeInstanceOf(Failure)
      expect([(refused as Failure).kind, (refused as Failure).message]).toEqual([
        'bad_block',
        expect.stringContaining(`Block ${END}: it is signed with ${OWN.key}, which is not the key of any producer`),
      ])
      expect((await store.published())?.height ?? -1).toBeLessThan(END)
    }
    await using honest = await startFaultyNode()
    expect(await loading([honest.url], store)).toBe(END)
    await destroy()
  })

test('two nodes: a block that both have is agreed; a node that is away, behind or without the block does not object', async () => {
  await using good = await startFaultyNode()
  const absent = () => new Response('{"code":2,"message":"block not found"}', { status: 400 })
  for (const [fault, agreed] of [
    [() => undefined, [[0, END, true]]],
    [() => new Response('', { status: 503 }), [[0, END, undefined]]],
    [
      ({ path }: { path: string }) => (path === `/getBlockByNumber/${END}/false` ? absent() : undefined),
      [[0, END, undefined]],
    ],
  ] as const) {
    const { store, destroy } = await temporarySqlite()
    await using other = await startFaultyNode(fault)
    expect(await loading([good.url, other.url], store)).toBe(END)
    const ranges = (await store.published())?.proved?.ranges ?? []
    expect<unknown>(ranges.map(({ from, to, agreed }) => [from, to, agreed])).toEqual(agreed)
    await destroy()
  }
})

test('two nodes that differ: the load stops, no block of the batch is stored, and both nodes are named', async () => {
  const { store, destroy } = await temporarySqlite()
  await using good = await startFaultyNode()
  const OTHER = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'
  await using other = await startFaultyNode(async ({ path }, truth) =>
    path === `/getBlockByNumber/${END}/false`
      ? new Response((await truth()).replace(/"hash":"[^"]+"/, `"hash":"${OTHER}"`))
      : undefined,
  )
  const refused = (await loading([good.url, other.url], store)) as Failure
  expect(refused.kind).toBe('bad_block')
  for (const named of [good.url, other.url, OTHER, `block ${END}`]) expect(refused.message).toContain(named)
  expect((await store.published())?.height ?? -1).toBeLessThan(END)
  await destroy()
})
