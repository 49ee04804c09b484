import { expect, test } from 'bun:test'
import { rpcAnswers } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'

test('get-contract-abi: every contract has the ABI that its node reports', async () => {
  const wrong: string[] = []
  let count = 0
  for (const [call, text] of await rpcAnswers()) {
    const id = /^GET \/getContract\/([^/]+)\/true$/.exec(call)?.[1]
    if (id === undefined) continue
    count += 1
    const { abis } = JSON.parse(text)
    const expected = { abis, page: 1, size: abis.length, total: abis.length }
    if (!Bun.deepEquals(await ask('get-contract-abi', { contract: id }), expected, true)) wrong.push(id)
  }
  expect({ many: count >= 23, wrong }).toEqual({ many: true, wrong: [] })
})
