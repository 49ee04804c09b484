import { afterAll, beforeAll, expect, test } from 'bun:test'
import { decodeRawHeads, headHashBytes } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { signingKey, signText } from '../generator/signing.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forgedChain, type Written } from '../support/nodes/forged-chain.ts'
import { loadUnpaused } from '../support/nodes/load-unpaused.ts'
import { json } from '../support/nodes/read-blocks.ts'
import { recordedBlocks, recording } from '../support/nodes/recording.ts'
import { type Dump, differences, dumpSqlite } from '../support/stores/dump.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

const AFTER = 12

/** Height of the first block whose second transaction moves tokens and that has a third transaction. */
const transferAt = async (): Promise<number> =>
  (await recordedBlocks()).findIndex(
    ({ block }) =>
      block.height > 0 &&
      block.transactions.length > 2 &&
      block.transactions[1]?.receipt.receipts[0]?.funcName === 'token.iost/transfer',
  )

/** Forges the amount in the first receipt of the second transaction. */
function forgeAmount({ transactions }: Written): void {
  const receipt = transactions[1]?.tx_receipt.receipts[0]
  if (receipt !== undefined) receipt.content = receipt.content.replace(/"[0-9.]+","/, '"999999","')
}
const set =
  (fields: Readonly<Record<string, unknown>>) =>
  (block: Written): void => {
    Object.assign(block, fields)
  }
/** Writes U+FFFD into a memo of another transaction of the block. */
function spoilMemo({ transactions }: Written): void {
  const action = transactions[2]?.actions[0]
  if (action !== undefined) action.data = action.data.replace(/"\]$/, '\ufffd"]')
}

const LIES: readonly (readonly [string, (block: Written) => void])[] = [
  ['a receipt with another amount', forgeAmount],
  ['another time', set({ time: '1795247607500776201' })],
  ['another witness', set({ witness: '7G6p3UntUeo9aVnxzdYskeYLmMDmF1mcqU8Vi1Svybmt' })],
  ['another version', set({ version: '2' })],
  [
    'lost bytes in another memo, and a forged amount',
    block => {
      spoilMemo(block)
      forgeAmount(block)
    },
  ],
  [
    'another info, and a forged amount',
    block => {
      forgeAmount(block)
      block['info'] = { mode: 1, thread: 0, batch_index: [] }
    },
  ],
]

// `proof-table.test.ts` alters each field without its hashes, which is the easier lie.
for (const rehashed of [false, true])
  test.each(rehashed ? LIES : LIES.slice(0, 1))(
    `a lying node, hashes made to fit: ${rehashed}: %s is never stored`,
    async (_, alter) => {
      const end = height + AFTER
      const { store, path, destroy } = await temporarySqlite(begun.path)
      const lying = serveReplay({ recording: forgedChain(await recording(), { height, alter, rehashed }, end) })
      const failed = await loadUnpaused(lying.url, store)
      await lying.stop()
      expect(failed).toBeInstanceOf(Failure)
      expect((failed as Failure).kind).toBe('bad_block')
      expect((await store.published())?.height ?? -1).toBeLessThan(height)
      const honest = serveReplay({ recording: await recording(), to: end })
      expect(await loadUnpaused(honest.url, store)).toBe(end)
      await honest.stop()
      expect(differences(dumpSqlite(path), clean)).toEqual([])
      await destroy()
    },
  )

/** A new store with the recorded chain up to a height. */
async function loadChain(end: number) {
  const opened = await temporarySqlite()
  const honest = serveReplay({ recording: await recording(), to: end })
  await loadUnpaused(honest.url, opened.store)
  await honest.stop()
  return opened
}

let height = 0
/** A store loaded up to some blocks before the forged one. All nodes agree on these blocks. */
let begun: Awaited<ReturnType<typeof loadChain>>
/** The documents from an honest node's chain. */
let clean: Dump
beforeAll(async () => {
  height = await transferAt()
  begun = await loadChain(height - 20)
  const whole = await loadChain(height + AFTER)
  clean = dumpSqlite(whole.path)
  await whole.destroy()
})
afterAll(() => begun.destroy())

test('a lying node: a forged publisher is detected where texts are proved, near the head and with --prove whole', async () => {
  const forged = forgedChain(
    await recording(),
    {
      height: 1201,
      rehashed: false,
      alter: ({ transactions }) => Object.assign(transactions[1] ?? {}, { publisher: 'admin' }),
    },
    1201,
  )
  const lying = serveReplay({ recording: forged })
  for (const [prove, following] of [
    ['signed', true],
    ['whole', false],
  ] as const) {
    const node = createNode({ urls: [lying.url], clock: idleClock(), prove })
    const read = Array.fromAsync(node.blocks({ from: 1200, to: 1201, following }))
    await expect(read).rejects.toThrow(/^http\S+: Block 1201: publisher of transaction \w+ differs in the raw block\.$/)
    node.close()
  }
  await lying.stop()
})

test('following: a node without raw blocks is accepted as far as blocks are signed, which is reported once; not with --prove whole', async () => {
  const replay = serveReplay({ recording: await recording() })
  const events: string[] = []
  const levels: unknown[] = []
  const node = createNode({ urls: [replay.url], clock: idleClock(), onBlockEvent: ({ type }) => events.push(type) })
  for (const from of [1200, 1202, 1204])
    for await (const { proof } of node.blocks({ from, to: from + 1, following: true })) levels.push(proof.level)
  // Block 1203 has only its base transaction, whose text its hash proves.
  expect(levels).toEqual(['whole', 'whole', 'signed', 'whole', 'signed', 'signed'])
  expect(events).toEqual(['no_raw'])
  const whole = createNode({ urls: [replay.url], clock: idleClock(), prove: 'whole' })
  await expect(Array.fromAsync(whole.blocks({ from: 1202, to: 1203 }))).rejects.toThrow(
    'the text of its transactions cannot be proved',
  )
  node.close()
  whole.close()
  await replay.stop()
})

test('a node without the call for headers: the signature of a block comes from its raw form', async () => {
  await using faulty = await startFaultyNode(({ path }) =>
    path === '/getBlockHeaderByRange'
      ? new Response('{"code":12,"message":"Not Implemented"}', { status: 400 })
      : undefined,
  )
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  const [signed] = await Array.fromAsync(node.blocks({ from: 1201, to: 1201 }))
  const [truth] = (await recordedBlocks()).slice(1201)
  expect([signed?.block.hash, signed?.proof.signedBy]).toEqual([truth?.block.hash, truth?.block.witness])
  // The node does not return the raw form of this block either.
  await expect(Array.fromAsync(node.blocks({ from: 1203, to: 1203 }))).rejects.toThrow('its signature is not available')
  node.close()
})

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
