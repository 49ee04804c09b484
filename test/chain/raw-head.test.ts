import { expect, test } from 'bun:test'
import { recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { encodeBase58 } from '#chain/base58.ts'
import { decodeRawHeads, headHash } from '#chain/head.ts'

test('headHash: of every recorded head is the hash of its block', async () => {
  const blocks = await recordedBlocks()
  const heads = [...(await rpcAnswers())]
    .filter(([call]) => call.startsWith('POST /getBlockHeaderByRange'))
    .flatMap(([, text]) => decodeRawHeads(text))
  expect(new Set(heads.map(({ height }) => height)).size).toBe(4852)
  expect(heads.filter(head => headHash(head) !== blocks[head.height]?.block.hash)).toEqual([])
  expect(
    heads.filter(head => encodeBase58(head.parentHash) !== blocks[head.height]?.block.parentHash),
  ).toEqual([])
})

const ANSWERS: readonly (readonly [string, string])[] = [
  ['{}', 'answer.block_list: nothing is not a list.'],
  ['{"block_list":[{}]}', 'block_list[0].head: nothing is not an object.'],
  ['{"block_list":[{"head":{"version":1}}]}', 'block_list[0].head.version: 1 is not an integer in a string.'],
  [
    '{"block_list":[{"head":{"version":"1","parentHash":"a"}}]}',
    'block_list[0].head.parentHash: "a" is not base64.',
  ],
  ['<html>', 'getBlockHeaderByRange: 6 characters that are not JSON.'],
]
test.each(ANSWERS)('decodeRawHeads: %s is refused with a message', (text, message) => {
  expect(() => decodeRawHeads(text)).toThrow(message)
})
