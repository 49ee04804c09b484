import { expect, test } from 'bun:test'
import { LINKED } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { createNode } from '#node/archive-node.ts'
import type { BlockEvent } from '#node/block-requests.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forgedChain, type Written } from '../support/nodes/forged-chain.ts'
import { recording, rpcAnswers } from '../support/nodes/recording.ts'

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
async function read(shown: (text: string) => string, raw: Uint8Array) {
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
  try {
    const blocks = await Array.fromAsync(node.blocks({ from: 1200, to: 1202 }))
    return { blocks, events }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { failure: error, events }
  } finally {
    node.close()
  }
}

const same = (text: string): string => text

test('lost bytes: their receipt is proved by the raw block, reported and counted', async () => {
  const { blocks, events } = await read(same, await rawAnswer('within a CUT', CUT))
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
    const { failure, events } = await read(shown, raw)
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
    const { failure } = await read(text => text.replace(from, to), right)
    expect([from, failure?.message]).toEqual([from, expect.stringContaining('differs in the raw block')])
  }
  const wrong = await rawAnswer('within a CUT', Buffer.from([0xe6, 0x97]))
  expect((await read(same, wrong)).failure?.message).toContain('merkle root of its receipts')
})

test('lost bytes: if the raw form lost them too, a cut character is found by the root', async () => {
  const lost = await rawAnswer('within a CUT', Buffer.from('\ufffd\ufffd'))
  expect((await read(same, lost)).blocks?.[1]?.proof).toEqual({ level: 'linked', lost: 1 })
  const shown = (text: string): string => text.replace('within a ', 'outside ')
  expect((await read(shown, lost)).failure?.kind).toBe('bad_block')
})
