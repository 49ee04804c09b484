import { expect, test } from 'bun:test'
import { LINKED } from '#chain/block.ts'
import { decodeRawHeads, headHashBytes } from '#chain/head.ts'
import type { Failure } from '#failure/failure.ts'
import { createNode } from '#node/archive-node.ts'
import type { BlockEvent } from '#node/prove-blocks.ts'
import type { Store } from '#store/port.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { signingKey, signText } from '../generator/signing.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forgedChain, type Written } from '../support/nodes/forged-chain.ts'
import { loadUnpaused } from '../support/nodes/load-unpaused.ts'
import { at, changed } from '../support/nodes/read-blocks.ts'
import { recordedBlocks, recording, rpcAnswers } from '../support/nodes/recording.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

// `test/load/bad-node.test.ts` loads forged blocks into stores; `proof-table.test.ts` alters each field.

test('a lying node: a forged publisher is detected where texts are proved, near the head and with --prove whole', async () => {
  const alter = ({ transactions }: Written) => Object.assign(transactions[1] ?? {}, { publisher: 'admin' })
  const lying = serveReplay({
    recording: forgedChain(await recording(), { height: 1201, rehashed: false, alter }, 1201),
  })
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
  const unknown = () => new Response('{"code":12,"message":"Not Implemented"}', { status: 400 })
  await using faulty = await startFaultyNode(at(path => path === '/getBlockHeaderByRange', unknown))
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
  const signing = (block: Written) => alter(Object.assign(block, { witness: OWN.key }))
  const signed = (text: string): string => {
    const answer = JSON.parse(text) as { block_list: { sign: unknown }[] }
    decodeRawHeads(text).forEach((head, at) => {
      const entry = answer.block_list[at]
      if (head.height === END && entry !== undefined) entry.sign = JSON.parse(signText(headHashBytes(head), OWN))
    })
    return JSON.stringify(answer)
  }
  const chain = forgedChain(await recording(), { height: END, rehashed: true, alter: signing }, END)
  return startFaultyNode(
    at(path => path === '/getBlockHeaderByRange', changed(signed)),
    undefined,
    chain,
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
      const { kind, message } = (await loading([forger.url], store)) as Failure
      expect(kind).toBe('bad_block')
      expect(message).toContain(`Block ${END}: it is signed with ${OWN.key}, which is not the key of any producer`)
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
  const differs = changed(text => text.replace(/"hash":"[^"]+"/, `"hash":"${OTHER}"`))
  await using other = await startFaultyNode(at(path => path === `/getBlockByNumber/${END}/false`, differs))
  const refused = (await loading([good.url, other.url], store)) as Failure
  expect(refused.kind).toBe('bad_block')
  for (const named of [good.url, other.url, OTHER, `block ${END}`]) expect(refused.message).toContain(named)
  expect((await store.published())?.height ?? -1).toBeLessThan(END)
  await destroy()
})

const HEIGHT = 1201
/** The first two of the three bytes of a character. */
const CUT = Buffer.from([0xe6, 0x96])

/** The raw form of the block, with the message of one receipt cut within a character. */
async function rawAnswer(message: string, bytes: Uint8Array): Promise<Uint8Array> {
  const text = (await rpcAnswers()).get(`GET /getRawBlockByNumber/${HEIGHT}/true`) ?? ''
  const answer = JSON.parse(text) as { block: { receipts: { status: { message: string } }[] } }
  const receipt = answer.block.receipts[1]
  if (receipt !== undefined) receipt.status.message = message
  const [before = '', after = ''] = JSON.stringify(answer).split('CUT')
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])
}

/** Reads blocks 1200 … 1202 of a chain in which a receipt of 1201 has bytes that are not UTF-8. */
async function readLossy(shown: (text: string) => string, raw: Uint8Array) {
  const alter = ({ transactions }: Written) =>
    Object.assign(transactions[1]?.tx_receipt ?? {}, { message: 'within a \udce6\udc96' })
  const chain = forgedChain(await recording(), { height: HEIGHT, rehashed: true, alter }, 1202)
  const lossy = (text: string): string => shown(text.replaceAll(/\\udc[89a-f][0-9a-f]/g, '\ufffd'))
  await using faulty = await startFaultyNode(
    ({ path }) => (path === `/getRawBlockByNumber/${HEIGHT}/true` ? new Response(new Uint8Array(raw)) : undefined),
    undefined,
    { ...chain, blockText: height => lossy(chain.blockText(height) ?? '') },
  )
  const events: BlockEvent[] = []
  const onBlockEvent = (event: BlockEvent) => events.push(event)
  // A made-up chain cannot be signed.
  const node = createNode({ urls: [faulty.url], clock: idleClock(), prove: 'linked', onBlockEvent })
  const read = Array.fromAsync(node.blocks({ from: 1200, to: 1202 }))
  const [blocks, failure] = await read.then(
    all => [all, undefined] as const,
    (error: Failure) => [undefined, error] as const,
  )
  node.close()
  return { blocks, failure, events }
}

const same = (text: string): string => text

test('lost bytes: their receipt is proved by the raw block, reported and counted', async () => {
  const { blocks, events } = await readLossy(same, await rawAnswer('within a CUT', CUT))
  expect(blocks?.map(({ proof }) => proof)).toEqual([LINKED, { ...LINKED, lost: 1 }, LINKED])
  expect(blocks?.[1]?.block.transactions[1]?.receipt.message).toBe('within a \ufffd\ufffd')
  expect(events).toEqual([{ type: 'lost_bytes', height: HEIGHT, receipts: 1 }])
})

test('lost bytes: no other receipt is accepted, not even one that seems to have lost bytes', async () => {
  const raw = await rawAnswer('within a CUT', CUT)
  for (const forged of ['"message":"all is well"', '"message":"\ufffd"']) {
    // The last transaction's receipt is another one.
    const shown = (text: string): string => {
      const at = text.includes(`"number":"${HEIGHT}"`) ? text.lastIndexOf('"message":""') : -1
      return at < 0 ? text : `${text.slice(0, at)}${forged}${text.slice(at + '"message":""'.length)}`
    }
    const { failure, events } = await readLossy(shown, raw)
    expect([failure?.kind, failure?.details['height']]).toEqual(['bad_block', HEIGHT])
    expect(events).toEqual([])
  }
})

test('lost bytes: the JSON must contain the rest of the raw receipt, and its bytes must match the root', async () => {
  const right = await rawAnswer('within a CUT', CUT)
  for (const [from, to] of [
    [/within a /, 'outside '],
    [/"status_code":"\w+"(?=,\s*"message":"within a)/, '"status_code":"TIMEOUT"'],
    [/"ram_usage":\{[^}]*\}(?=,\s*"status_code":"\w+",\s*"message":"within a)/, '"ram_usage":{"admin":"1"}'],
    [/"gas_usage":[0-9.]+(?=,\s*"ram_usage":\{[^}]*\},\s*"status_code":"\w+",\s*"message":"within a)/, '"gas_usage":7'],
  ] as const) {
    const { failure } = await readLossy(text => text.replace(from, to), right)
    expect([from, failure?.message]).toEqual([from, expect.stringContaining('differs in the raw block')])
  }
  const wrong = await rawAnswer('within a CUT', Buffer.from([0xe6, 0x97]))
  expect((await readLossy(same, wrong)).failure?.message).toContain('merkle root of its receipts')
})

test('lost bytes: if the raw form lost them too, a cut character is found by the root', async () => {
  const lost = await rawAnswer('within a CUT', Buffer.from('\ufffd\ufffd'))
  expect((await readLossy(same, lost)).blocks?.[1]?.proof).toEqual({ level: 'linked', lost: 1 })
  const shown = (text: string): string => text.replace('within a ', 'outside ')
  expect((await readLossy(shown, lost)).failure?.kind).toBe('bad_block')
})
