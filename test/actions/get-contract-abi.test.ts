import { expect, test } from 'bun:test'
import { rpcAnswers } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

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

test('get-contract-abi: an unknown contract is not found; in compat the list is empty', async () => {
  const contract = 'ContractFDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
  expect((await refusal(ask('get-contract-abi', { contract }))).kind).toBe('not_found')
  expect(await askText('get-contract-abi', { contract }, { compat: 'iostabc' })).toBe(
    '{"abis":[],"page":1,"size":0,"total":0}',
  )
})
