import { describe, expect, test } from 'bun:test'
import { parseDeployedContract } from '#chain/contract-code.ts'
import { contracts } from '#indices/contract.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, genesis } from '#test/support/stores/hand-made.ts'
import { sendActions } from '#test/support/stores/hand-made-derived.ts'

/** A length-delimited protobuf field. */
function field(number: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]
  return Uint8Array.from([(number << 3) | 2, ...length, ...bytes])
}
const message = (...fields: readonly Uint8Array[]): Uint8Array => Uint8Array.from(fields.flatMap(each => [...each]))
function encoded(version: string): string {
  const abi = message(
    field(1, 'transfer'),
    field(2, 'string'),
    field(2, 'number'),
    field(3, message(field(1, 'iost'), field(2, '100'))),
  )
  const info = message(field(1, 'javascript'), field(2, version), field(3, abi), field(3, field(1, 'other')))
  const contract = message(field(1, 'x.iost'), field(2, info), field(3, 'c'.repeat(300)))
  return Buffer.from(contract).toString('base64')
}
const abis = [
  { name: 'transfer', args: ['string', 'number'], amount_limit: [{ token: 'iost', value: '100' }] },
  { name: 'other', args: [], amount_limit: [] },
]

describe('parseDeployedContract', () => {
  test('deployed code: reads JSON with keys in any case, as Go does', () => {
    const text = JSON.stringify({
      id: 'x.iost',
      Code: 'class A {}',
      Info: {
        lang: 'javascript',
        VERSION: '2',
        abi: [{ Name: 'a', args: null, AmountLimit: [{ token: '*', val: 'unlimited' }] }],
      },
    })
    expect(parseDeployedContract(text)).toEqual({
      id: 'x.iost',
      language: 'javascript',
      version: '2',
      abis: [{ name: 'a', args: [], amount_limit: [{ token: '*', value: 'unlimited' }] }],
      code: 'class A {}',
    })
  })
  test('deployed code: nothing, broken JSON and other bytes are no contract', () => {
    expect(['', '{"ID":', 'AAA='].map(parseDeployedContract)).toEqual([undefined, undefined, undefined])
  })
})

describe('deriveBlock: code of system contracts', () => {
  const code = (version: string) => ({ id: 'token.iost', language: 'native', version, abis: [] })
  const chain = (...codes: readonly string[]) => {
    const native = action('system.iost/updateNativeCode', ['token.iost', '1.0.2', ''])
    const first = genesis()
    const created = {
      ...first,
      actions: [...first.actions, action('system.iost/initSetCode', ['vote.iost', encoded('1.0.0')])],
    }
    const blocks = chainOf([created], [sendActions(native)])
    return deriveChain(blocks.map((loaded, at) => ({ ...loaded, systemCode: [code(codes[at] ?? '')] })))
  }
  test("deriveBlock: the version comes from the chain, and the node's code is used where the chain has none", () => {
    const { state } = chain('1.0.6', '1.0.6')
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
    const { state, documents } = deriveChain(chainOf([genesis()], [deploy], [update]))
    expect(documents[1]?.records.map(({ deployed }) => deployed)).toEqual([id])
    expect(state.get(contracts, id)).toMatchObject({ version: '2', height: 1, code_at: [2, 1, 0] })
  })

  test('deriveBlock: updateNativeCode takes the code of its version, else the code that it brings', () => {
    const given = JSON.stringify({
      ID: 'gas.iost',
      info: { lang: 'native', version: '1.0.9', abi: [{ name: 'given', args: [] }] },
    })
    const update = (...args: readonly string[]) => sendActions(action('system.iost/updateNativeCode', args))
    const native = { id: 'token.iost', language: 'native', version: '1.0.6', abis }
    const chain = chainOf([genesis()], [update('token.iost', '1.0.2', given)], [update('', '', given)])
    const { state } = deriveChain(chain.map(loaded => ({ ...loaded, systemCode: [native] })))
    expect(state.get(contracts, 'token.iost')).toMatchObject({ version: '1.0.2', abis })
    expect(state.get(contracts, 'gas.iost')).toMatchObject({
      version: '1.0.9',
      abis: [{ name: 'given', args: [], amount_limit: [] }],
    })
  })
})
