import { describe, expect, test } from 'bun:test'
import { recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { found, notFound, spokenNode } from '#test/support/nodes/spoken-node.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'
import { pendingBlock } from '#test/support/stores/pending-block.ts'

/** The node's object in the form of the interface: numbers that may be large are text. */
function shownBlock(text: string, gas: string) {
  const { block, status } = JSON.parse(text)
  const { transactions: _, ...own } = block
  const witness = block.number === '0' ? '0' : 'producer000'
  return {
    block: { ...own, number: Number(block.number), gas_usage: gas, info: block.info ?? {} },
    status,
    witness_account: witness,
  }
}

function gasOf(height: number, blocks: Awaited<ReturnType<typeof recordedBlocks>>): string {
  let sum = 0n
  for (const { receipt } of blocks[height]?.block.transactions ?? []) sum += receipt.gasUsage
  const text = String(sum).padStart(3, '0')
  return `${text.slice(0, -2)}.${text.slice(-2)}`.replace(/\.?0+$/, '')
}

describe('get-block-detail', () => {
  test("get-block-detail: recorded blocks by number and by hash match the node's objects", async () => {
    const blocks = await recordedBlocks()
    const wrong: string[] = []
    let count = 0
    for (const [call, text] of await rpcAnswers()) {
      const [, , way, name] = /^GET (\/getBlockBy(Number|Hash)\/([^/]+)\/false)$/.exec(call) ?? []
      if (way === undefined || name === undefined) continue
      count += 1
      const height = Number(JSON.parse(text).block.number)
      const params = way === 'Number' ? { number: String(height) } : { hash: name }
      const said = await ask('get-block-detail', params)
      if (!Bun.deepEquals(said, shownBlock(text, gasOf(height, blocks)), true)) wrong.push(call)
    }
    expect({ many: count > 60, wrong }).toEqual({ many: true, wrong: [] })
  })
  test('get-block-detail: genesis has time and number as numbers', async () => {
    const text = await askText('get-block-detail', { number: '0' })
    expect(text).toContain('"parent_hash":"",')
    expect(text).toContain('"number":0,"witness":"0","time":1541847845000000000,"gas_usage":0,"tx_count":"1","info":{}')
    expect(text).toContain('"status":"IRREVERSIBLE","witness_account":"0"')
  })
  test('get-block-detail: number and hash together are accepted when both name the same block', async () => {
    const { block } = await ask('get-block-detail', { number: '1200' })
    expect((await ask('get-block-detail', { number: '1200', hash: block.hash })).block).toEqual(block)
  })
})

describe('get-block-detail, above the last published block', () => {
  const pending = () => pendingBlock(4860)
  test("get-block-detail: the followed node's block is answered, with gas summed from its transactions", async () => {
    const node = spokenNode({ '/getBlockByNumber/4860/true': [found(await pending())] })
    const said = await ask('get-block-detail', { number: '4860' }, { deps: { node } })
    const blocks = await recordedBlocks()
    expect(said).toEqual(shownBlock(await pending(), gasOf(2021, blocks)))
  })
  test('get-block-detail: a hash that was replaced on the chain is not found', async () => {
    const text = await pending()
    const other = await pendingBlock(4860, 1n)
    const { hash } = JSON.parse(other).block
    const path = `/getBlockByHash/${hash}/true`
    const orphaned = spokenNode({ [path]: [found(other)], '/getBlockByNumber/4860/true': [found(text)] })
    const params = { hash }
    expect((await refusal(ask('get-block-detail', params, { deps: { node: orphaned } }))).kind).toBe('not_found')
    const onChain = spokenNode({ [path]: [found(other)], '/getBlockByNumber/4860/true': [found(other)] })
    expect((await ask('get-block-detail', params, { deps: { node: onChain } })).status).toBe('PENDING')
  })
  test('get-block-detail: a block that the node does not know is not found', async () => {
    const node = spokenNode({ '/getBlockByNumber/4861/true': [notFound('block')] })
    expect((await refusal(ask('get-block-detail', { number: '4861' }, { deps: { node } }))).kind).toBe('not_found')
  })
  test('get-block-detail: a block that the node altered is refused', async () => {
    const text = await pending()
    const lies: readonly (readonly [from: string | RegExp, to: string])[] = [
      ['"number":"4860"', '"number":"4861"'],
      [/"witness":"[^"]*"/, '"witness":"9V1v7Emef8MyPc1uBc9i5BmrTFxpUkxvQa1vUUSuzr4F"'],
      [/"time":"(\d+)\d"/, '"time":"$19"'],
      [/"parent_hash":"[^"]*"/, '"parent_hash":"FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC"'],
      [/"tx_merkle_hash":"[^"]*"/, '"tx_merkle_hash":"FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC"'],
      [/"tx_count":"\d+"/, '"tx_count":"77"'],
      [/"gas_usage":\d+(?:\.\d+)?, "ram_usage"/, '"gas_usage":77,"ram_usage"'],
      [/"message":"[^"]*", "returns"/, '"message":"\ufffd","returns"'],
    ]
    for (const [from, to] of lies) {
      const lie = text.replace(from, to)
      expect(lie === text).toBe(false)
      const { number, hash } = JSON.parse(lie).block
      const node = spokenNode({
        [`/getBlockByNumber/${number}/true`]: [found(lie)],
        [`/getBlockByHash/${hash}/true`]: [found(lie)],
      })
      for (const params of [{ number }, { hash }])
        for (const action of ['get-block-detail', 'get-block-tx'])
          expect((await refusal(ask(action, params, { deps: { node } }))).kind).toBe('bad_block')
    }
  })
  test('get-block-detail: a block other than the requested one is refused', async () => {
    const node = spokenNode({ '/getBlockByNumber/4861/true': [found(await pending())] })
    expect((await refusal(ask('get-block-detail', { number: '4861' }, { deps: { node } }))).kind).toBe('bad_block')
  })
})
