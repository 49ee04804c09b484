import { afterAll, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { createNode } from '#node/archive-node.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forgedChain, type Written } from '../support/nodes/forged-chain.ts'
import { loadUnpaused } from '../support/nodes/load-unpaused.ts'
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
const both =
  (...changes: readonly ((block: Written) => void)[]) =>
  (block: Written): void => {
    for (const change of changes) change(block)
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
  ['lost bytes in another memo, and a forged amount', both(spoilMemo, forgeAmount)],
  ['another info, and a forged amount', both(set({ info: { mode: 1, thread: 0, batch_index: [] } }), forgeAmount)],
]

for (const rehashed of [false, true])
  test.each(LIES)(`a lying node, hashes made to fit: ${rehashed}: %s is never stored`, async (_, alter) => {
    const height = await transferAt()
    const end = height + AFTER
    const { store, path, destroy } = await temporarySqlite((await begun()).path)
    const lying = serveReplay({ recording: forgedChain(await recording(), { height, alter, rehashed }, end) })
    const failed = await loadUnpaused(lying.url, store)
    await lying.stop()
    expect(failed).toBeInstanceOf(Failure)
    expect((failed as Failure).kind).toBe('bad_block')
    expect((await store.published())?.height ?? -1).toBeLessThan(height)
    const honest = serveReplay({ recording: await recording(), to: end })
    expect(await loadUnpaused(honest.url, store)).toBe(end)
    await honest.stop()
    expect(differences(dumpSqlite(path), await clean(end))).toEqual([])
    await destroy()
  })

let first: ReturnType<typeof temporarySqlite> | undefined
afterAll(async () => (await first)?.destroy())
/** A store loaded up to some blocks before the forged one. All nodes agree on these blocks. */
function begun() {
  first ??= (async () => {
    const opened = await temporarySqlite()
    const honest = serveReplay({ recording: await recording(), to: (await transferAt()) - 20 })
    await loadUnpaused(honest.url, opened.store)
    await honest.stop()
    return opened
  })()
  return first
}

let made: Dump | undefined
/** The documents from an honest node's chain. */
async function clean(end: number): Promise<Dump> {
  if (made !== undefined) return made
  const { store, path, destroy } = await temporarySqlite()
  const honest = serveReplay({ recording: await recording(), to: end })
  await loadUnpaused(honest.url, store)
  made = dumpSqlite(path)
  await honest.stop()
  await destroy()
  return made
}

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
