import { expect, test } from 'bun:test'
import { recording } from '#test/support/nodes/recording.ts'
import { found, notFound, spokenNode } from '#test/support/nodes/spoken-node.ts'
import { ask } from '#test/support/stores/ask.ts'
import { pendingBlock } from '#test/support/stores/pending-block.ts'

const last = () => ask('get-block-detail', { number: '4851' })

test('get-latest-block: returns the last published block without a node, and when the node has no newer one', async () => {
  expect(await ask('get-latest-block')).toEqual(await last())
  const text = (await recording()).blockText(4851) ?? ''
  const node = spokenNode({ '/getBlockByNumber/4851/true': [found(text)] })
  expect(await ask('get-latest-block', {}, { deps: { node } })).toEqual(await last())
})

test('get-latest-block: returns the head of the followed node, with one request to it for many calls', async () => {
  const node = spokenNode({ '/getBlockByNumber/4855/true': [found(await pendingBlock(4855))] }, { headBlock: 4855 })
  const said = await Promise.all([1, 2, 3].map(() => ask('get-latest-block', {}, { deps: { node } })))
  expect(said.map(({ block, status, witness_account }) => [block.number, status, witness_account])).toEqual(
    Array(3).fill([4855, 'PENDING', 'producer000']),
  )
  expect(node.asked).toEqual(['/getBlockByNumber/4855/true'])
})

test('get-latest-block: a head that the node altered, or another block, is never shown', async () => {
  const text = await pendingBlock(4855)
  for (const lie of [
    text.replace(/"time":"(\d+)\d"/, '"time":"$19"'),
    text.replace(/"gas_usage":\d+(?:\.\d+)?, "ram_usage"/, '"gas_usage":77,"ram_usage"'),
    await pendingBlock(4856),
  ]) {
    expect(lie === text).toBe(false)
    const node = spokenNode({ '/getBlockByNumber/4855/true': [found(lie)] }, { headBlock: 4855 })
    expect(await ask('get-latest-block', {}, { deps: { node } })).toEqual(await last())
  }
})

test('get-latest-block: after its head was replaced, returns the last published block', async () => {
  const node = spokenNode({ '/getBlockByNumber/4856/true': [notFound('block')] }, { headBlock: 4856 })
  expect(await ask('get-latest-block', {}, { deps: { node } })).toEqual(await last())
})
