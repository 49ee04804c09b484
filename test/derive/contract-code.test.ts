import { describe, expect, test } from 'bun:test'
import { parseDeployedContract } from '#chain/contract-code.ts'
import { contracts } from '#indices/contract.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, genesis } from '#test/support/stores/hand-made.ts'
import { derive, sendActions } from '#test/support/stores/hand-made-derived.ts'

/** A length-delimited protobuf field. */
function field(number: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]
  return Uint8Array.from([(number << 3) | 2, ...length, ...bytes])
}
/** A contract's code as the chain stores it. */
function encoded(version: string): string {
  const limit = Buffer.concat([field(1, 'iost'), field(2, '100')])
  const abi = Buffer.concat([field(1, 'transfer'), field(2, 'string'), field(2, 'number'), field(3, limit)])
  const info = [field(1, 'javascript'), field(2, version), field(3, abi), field(3, field(1, 'other'))]
  const contract = [field(1, 'x.iost'), field(2, Buffer.concat(info)), field(3, 'c'.repeat(300))]
  return Buffer.concat(contract).toString('base64')
}
const abis = [
  { name: 'transfer', args: ['string', 'number'], amount_limit: [{ token: 'iost', value: '100' }] },
  { name: 'other', args: [], amount_limit: [] },
]

test('parseDeployedContract: reads JSON with keys in any case, as Go does, and no broken code', () => {
  const abi = [{ Name: 'a', args: null, AmountLimit: [{ token: '*', val: 'unlimited' }] }]
  const info = { lang: 'javascript', VERSION: '2', abi }
  expect(parseDeployedContract(JSON.stringify({ id: 'x.iost', Code: 'class A {}', Info: info }))).toEqual({
    ...{ id: 'x.iost', language: 'javascript', version: '2', code: 'class A {}' },
    abis: [{ name: 'a', args: [], amount_limit: [{ token: '*', value: 'unlimited' }] }],
  })
  expect(['', '{"ID":', 'AAA='].map(parseDeployedContract)).toEqual([undefined, undefined, undefined])
})

describe('deriveBlock: code of system contracts', () => {
  test("deriveBlock: the version comes from the chain, and the node's code is used where the chain has none", () => {
    const first = genesis()
    const created = action('system.iost/initSetCode', ['vote.iost', encoded('1.0.0')])
    const native = sendActions(action('system.iost/updateNativeCode', ['token.iost', '1.0.2', '']))
    const blocks = chainOf([{ ...first, actions: [...first.actions, created] }], [native])
    const code = { id: 'token.iost', language: 'native', version: '1.0.6', abis: [] }
    const { state } = deriveChain(blocks.map(loaded => ({ ...loaded, systemCode: [code] })))
    expect(state.get(contracts, 'token.iost')).toMatchObject({ version: '1.0.2', language: 'native', owner: 'admin' })
    expect(state.get(contracts, 'vote.iost')).toMatchObject({ version: '1.0.0', abis })
    const versions = new Map(state.get(statistics, STATISTICS)?.versions)
    expect([versions.get('token.iost'), versions.get('vote.iost')]).toEqual(['1.0.2', '1.0.0'])
  })

  test('deriveBlock: text after the arguments is ignored, as is a comma before the last bracket', () => {
    const code = (version: string, ID?: string) =>
      JSON.stringify({ ID, info: { lang: 'javascript', version, abi: [] }, code: `class A${version} {}` })
    const deploy = sendActions(action('system.iost/setCode', `${JSON.stringify([code('1')])} ;`))
    const id = `Contract${deploy.hash}`
    const update = sendActions(action('system.iost/updateCode', `[${JSON.stringify(code('2', id))},"",]`))
    const { state, documents } = derive([deploy], [update])
    expect(documents[1]?.records.map(({ deployed }) => deployed)).toEqual([id])
    expect(state.get(contracts, id)).toMatchObject({ version: '2', height: 1, code_at: [2, 1, 0] })
  })

  test('deriveBlock: updateNativeCode takes the code of its version, else the code that it brings', () => {
    const info = { lang: 'native', version: '1.0.9', abi: [{ name: 'given', args: [] }] }
    const given = JSON.stringify({ ID: 'gas.iost', info })
    const update = (...args: readonly string[]) => sendActions(action('system.iost/updateNativeCode', args))
    const native = { id: 'token.iost', language: 'native', version: '1.0.6', abis }
    const chain = chainOf([genesis()], [update('token.iost', '1.0.2', given)], [update('', '', given)])
    const { state } = deriveChain(chain.map(loaded => ({ ...loaded, systemCode: [native] })))
    expect(state.get(contracts, 'token.iost')).toMatchObject({ version: '1.0.2', abis })
    const abi = { name: 'given', args: [], amount_limit: [] }
    expect(state.get(contracts, 'gas.iost')).toMatchObject({ version: '1.0.9', abis: [abi] })
  })
})
