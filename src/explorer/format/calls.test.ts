import { expect, test } from 'bun:test'
import { byAction, type CallTree, nested, type ShownReceipt } from './calls.ts'

const receipt = (func_name: string, ...args: readonly string[]): ShownReceipt => ({
  func_name,
  content: JSON.stringify(args),
})
function action(name: string, ...args: readonly string[]) {
  const [contract = '', action_name = ''] = name.split('/')
  return { contract, action_name, data: JSON.stringify(args) }
}
const paid = receipt('token.iost/transfer', 'iost', 'alice', 'gas.iost', '10', '')
const pledged = receipt('gas.iost/pledge', 'alice', 'bobby', '10')
const signed = receipt('auth.iost/signUp', 'bobby', 'KEY', 'KEY')
const sent = receipt('token.iost/transfer', 'iost', 'alice', 'carol', '1', '')
const own = receipt('ContractX/own', 'anything')

/** The names of calls, with inner calls in parentheses. */
const drawn = (trees: readonly CallTree[]): string =>
  trees
    .map(({ func_name, inner }) => `${func_name.split('/')[1]}${inner.length === 0 ? '' : `(${drawn(inner)})`}`)
    .join(' ')

test('nested: the calls of a system contract are placed inside its receipt', () => {
  expect(drawn(nested([paid, pledged, signed]))).toBe('signUp(pledge(transfer))')
  expect(drawn(nested([sent, paid, pledged, own]))).toBe('transfer pledge(transfer) own')
})

test('nested: receipts that only look like nested calls are not', () => {
  expect(drawn(nested([sent, pledged]))).toBe('transfer pledge')
  expect(drawn(nested([pledged, { ...signed, content: 'no list' }]))).toBe('pledge signUp')
  expect(drawn(nested([paid, { ...pledged, func_name: 'ContractX/pledge' }]))).toBe('transfer pledge')
  expect(nested([])).toEqual([])
})

const divided = (actions: Parameters<typeof byAction>[0], receipts: readonly ShownReceipt[]) =>
  byAction(actions, nested(receipts))?.map(drawn)

const pledge = action('gas.iost/pledge', 'alice', 'bobby', '10')
const send = action('token.iost/transfer', 'iost', 'alice', 'carol', '1.0', '')
const play = action('ContractX/play', 'x')

test('byAction: a single action has all receipts, several have those that can only be theirs', () => {
  expect(divided([play], [sent, own])).toEqual(['transfer own'])
  expect(divided([pledge, play, send], [paid, pledged, sent, own, sent])).toEqual([
    'pledge(transfer)',
    'transfer own',
    'transfer',
  ])
  expect(divided([play, play], [])).toEqual(['', ''])
})

test('byAction: an ambiguous or impossible division gives no result', () => {
  expect(divided([play, play], [own])).toBeUndefined()
  expect(divided([play, send, play], [sent, sent])).toBeUndefined()
  expect(divided([send, send], [sent])).toBeUndefined()
  expect(divided([], [sent])).toBeUndefined()
})
