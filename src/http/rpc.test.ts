import { expect, test } from 'bun:test'
import { toNodePath } from './rpc.ts'
import { formatExamplePath, formatMethodTemplate, rpcMethods } from './rpc-methods.ts'

test('nodePathOf: the example of every method is accepted', () => {
  for (const method of rpcMethods)
    expect(`/rpc${toNodePath(formatExamplePath(method))}`).toBe(formatExamplePath(method))
})

test('nodePathOf: real names are accepted', () => {
  for (const path of [
    '/getAccount/__proto__/false',
    '/getAccount/0x7d3f3f3a2b7a5f6c5f4e3d2c1b0a998877665544/1',
    '/getTokenBalance/0/contribute/T',
    '/getTokenBalance/ContractD3EUhiyWJYNhoZa6kYSk1nR1XdVk2cDYQweyTdgdAxWw/1e5/true',
    '/getToken721Owner/x/-1/true',
    '/getBlockByNumber/9999999999999999999/false',
  ])
    expect(toNodePath(`/rpc${path}`)).toBe(path)
})

const refused: readonly (readonly [path: string, kind: string, message: string])[] = [
  ['/rpc/sendTx', 'unavailable', 'Method sendTx is temporarily unavailable.'],
  ['/rpc/execTx', 'unavailable', 'Method execTx is temporarily unavailable.'],
  ['/rpc/subscribe', 'unavailable', 'Method subscribe is temporarily unavailable.'],
  ['/rpc/', 'not_found', 'The path has no method after /rpc/, such as /rpc/getNodeInfo.'],
  ['/rpc/getnodeinfo', 'not_found', "Unknown method 'getnodeinfo'; the nearest one is 'getNodeInfo'."],
  [
    '/rpc/getContractStorage',
    'not_found',
    "Unknown method 'getContractStorage'; the nearest one is 'getContractVote'.",
  ],
  ['/rpc/__proto__', 'not_found', "Unknown method '__proto__'."],
  ['/rpc/getNodeInfo/', 'not_found', 'Method getNodeInfo must be called as /rpc/getNodeInfo.'],
  ['/rpc//getNodeInfo', 'not_found', 'The path has no method after /rpc/, such as /rpc/getNodeInfo.'],
  [
    '/rpc/getAccount/admin',
    'not_found',
    'Method getAccount must be called as /rpc/getAccount/{account}/{by_longest_chain}.',
  ],
  [
    '/rpc/getAccount//true',
    'bad_request',
    "Segment 'account' of /rpc/getAccount/{account}/{by_longest_chain} is ''; it must be 1 to 100 letters, digits, dots or _.",
  ],
  [
    '/rpc/getBlockByNumber/-1/true',
    'bad_request',
    "Segment 'number' of /rpc/getBlockByNumber/{number}/{complete} is '-1'; it must be a whole number of at most 19 digits.",
  ],
  [
    '/rpc/getBlockByNumber/1/yes',
    'bad_request',
    "Segment 'complete' of /rpc/getBlockByNumber/{number}/{complete} is 'yes'; it must be true or false.",
  ],
]
for (const [path, kind, message] of refused)
  test(`nodePathOf: refuses ${path}`, () =>
    expect(() => toNodePath(path)).toThrow(expect.objectContaining({ kind, message })))

test('nodePathOf: dots, escapes and invalid names are never accepted', () => {
  for (const segment of [
    '..',
    '.',
    '...',
    '%2e%2e',
    'a%2Fb',
    'a\\b',
    'a b',
    'a?b',
    'a#b',
    'a;b',
    '猫',
    'a\n',
    '%00',
    'a'.repeat(101),
  ])
    expect(() => toNodePath(`/rpc/getAccount/${segment}/true`)).toThrow(
      expect.objectContaining({ kind: 'bad_request' }),
    )
})

test('rpcMethods: names and templates are unique', () => {
  expect(new Set(rpcMethods.map(({ name }) => name)).size).toBe(rpcMethods.length)
  expect(rpcMethods.map(formatMethodTemplate)).toContain('/rpc/getTokenBalance/{account}/{token}/{by_longest_chain}')
})
