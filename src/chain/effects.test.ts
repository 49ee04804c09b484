import { expect, test } from 'bun:test'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import type { Block } from './block.ts'
import { listUnknownContracts, parseChainArguments } from './effects.ts'
import { Exact } from './json.ts'

test.each([
  ['["a", 1]', ['a', 1]],
  [' [] ', []],
  ['[9223372036854775807]', [new Exact('9223372036854775807')]],
  ['["\\ud800","\\uD83D\\ude00"]', ['\ufffd', '\u{1f600}']],
  // The chain reads one value and ignores the rest.
  ['["a"] x', ['a']],
  [' \n["a"] x', ['a']],
  ['["a"]["b"]', ['a']],
  ['["]", "\\"]"]}', [']', '"]']],
  ['[[1],{"b":[2]}]]', [[1], { b: [2] }]],
  // It drops a comma before the last bracket, of the arguments or of the text after them.
  ['["a",]', ['a']],
  ['[,]', []],
  ['["a" ,]', ['a']],
  ['["a"] x,]', ['a']],
] as const)('parseChainArguments: %s is a list', (data, read) => {
  expect(parseChainArguments(data)).toEqual(read as never)
})

test.each([
  ...['', 'x["a"]', '{"a":1}', '{"a":1}["a"]', '"["', '["a"', '["a', '["a",] ', '["a",,]', '\ufeff["a"]', '[01]'],
  ...["['a']", '["\n"]', ',]', ']', '"\\"'],
])('parseChainArguments: %j begins with no list', data => {
  expect(parseChainArguments(data)).toBeUndefined()
})

const unknownIn = (...transactions: readonly ReturnType<typeof transaction>[]): readonly string[] =>
  listUnknownContracts(chainOf([genesis()], transactions)[1]?.block as Block)

test('listUnknownContracts: names each contract of a successful updateNativeCode once, and nothing else', () => {
  const update = (data: string) => action('system.iost/updateNativeCode', data)
  const actions = [
    update('["token.iost","1.0.7",""]'),
    update('[ "token.iost" ]'),
    update('["token.iost","1.0.7","",] '),
    update('["auth.iost","1.0.1",""] x'),
    // Without a version, the code is in the chain.
    update('["","","{}"]'),
    action('user.iost/updateNativeCode', '["domain.iost"]'),
    action('system.iost/initSetCode', '["gas.iost","x"]'),
    action('system.iost/updateCode', '["auth.iost"]'),
    ...['not JSON', '[5]', '{"0":"ram.iost"}'].map(update),
  ]
  expect(unknownIn(transaction({ actions }))).toEqual(['token.iost', 'auth.iost'])
  expect(unknownIn(transaction({ actions, receipt: { statusCode: 'RUNTIME_ERROR' } }))).toEqual([])
})

test('listUnknownContracts: finds a contract deployed by a contract in a return, in RAM usage or in its own receipt', () => {
  const make = (told: (id: string) => Parameters<typeof transaction>[0], contract = 'ContractFactory') => {
    const { hash } = transaction({ actions: [action(`${contract}/make`, [])] })
    const id = `Contract${hash}`
    return [id, transaction({ actions: [action(`${contract}/make`, [])], ...told(id), hash })] as const
  }
  const byReturn = make(id => ({ receipt: { returns: [`["[\\"${id}\\"]"]`] } }))
  const byRam = make(id => ({ receipt: { ramUsage: [[id, 114n]] } }))
  const byReceipt = make(id => ({ receipts: [receipt(`${id}/born`, 'yes')] }))
  const failed = make(id => ({ receipt: { returns: [id], statusCode: 'RUNTIME_ERROR' } }))
  const ofChain = make(id => ({ receipt: { returns: [id] } }), 'auth.iost')
  const set = make(id => ({ actions: [action('system.iost/setCode', [])], receipt: { returns: [id] } }))
  const all = [byReturn, byRam, byReceipt, failed, make(() => ({})), ofChain, set]
  expect(unknownIn(...all.map(([, tx]) => tx))).toEqual([byReturn[0], byRam[0], byReceipt[0]])
})
