import { expect, test } from 'bun:test'
import { toNodePath } from './rpc.ts'
import { formatExamplePath, rpcMethods } from './rpc-methods.ts'

test('paths of the node: the example of every method is accepted', () => {
  for (const method of rpcMethods)
    expect(`/rpc${toNodePath(formatExamplePath(method))}`).toBe(formatExamplePath(method))
})

test('paths of the node: real names are accepted', () => {
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

test('paths of the node: dots, escapes and invalid names are never accepted', () => {
  const odd = [
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
  ]
  for (const segment of odd)
    expect(() => toNodePath(`/rpc/getAccount/${segment}/true`)).toThrow(
      expect.objectContaining({ kind: 'bad_request' }),
    )
})
