import { expect, test } from 'bun:test'
import { byAction, type CallTree, nested, type ShownReceipt } from './calls.ts'
import { failureWords, findFailedAction } from './outcome.ts'

const action = (data: unknown, action_name = 'transfer', contract = 'token.iost') => ({
  contract,
  action_name,
  data: JSON.stringify(data),
})
const PAY = action(['iost', 'user_009', 'user_029', '99999999', 'b'])
const MESSAGE =
  'running action Action{Contract: token.iost, ActionName: transfer, Data: ["iost","user_009","user_029","99999999","b... error: balance not enough 1217.6 < 99999999'

test('findFailedAction: the action is found whose arguments begin as in the node’s message', () => {
  const other = action(['iost', 'user_009', 'user_029', '1', 'a'])
  expect(findFailedAction(MESSAGE, [other, PAY])).toBe(1)
  expect(findFailedAction(MESSAGE, [PAY, PAY])).toBe(0)
  expect(findFailedAction(MESSAGE, [other])).toBe(undefined)
  expect(findFailedAction(MESSAGE, [PAY, action(['iost', 'user_009', 'user_029', '99999999', 'b2'])])).toBe(undefined)
  expect(findFailedAction('out of gas', [PAY])).toBe(undefined)
  const whole =
    'running action Action{Contract: token.iost, ActionName: recycle, Data: ["x"]}\n error: permission denied'
  expect(findFailedAction(whole, [action(['xy'], 'recycle'), action(['x'], 'recycle')])).toBe(1)
})

test.each([
  ['balance not enough 1217.6 < 99999999', PAY, 'user_009 had 1,217.6 iost, and 99,999,999 was needed.'],
  // The chain ignores the text after the arguments.
  ['balance not enough 0 < 5', { ...PAY, data: `${PAY.data} // b` }, 'user_009 had 0 iost, and 5 was needed.'],
  ['balance not enough 0 < 5', undefined, 'The balance was not enough: 0 of the 5 needed.'],
  [
    'balance not enough 0 < 5',
    action(['a', 'b'], 'take', 'ContractX'),
    'The balance was not enough: 0 of the 5 needed.',
  ],
  ['token not exists', action(['nosuch', 'a'], 'issue'), 'The token nosuch did not exist.'],
  [
    'Uncaught exception: Error: Uncaught exception: Error: amount too large. max amount = 10',
    undefined,
    'The amount was too large: at most 10 was possible.',
  ],
  ['out of gas', undefined, 'The transaction used up its gas limit before it ended.'],
  [
    'token iost exceed amountLimit in tx. need 5',
    PAY,
    "It would have moved 5 iost, more than the signer's spending limit allows.",
  ],
  ['Uncaught exception: Error: require auth failed.', undefined, 'The signers had no permission for this action.'],
  ['invalid account nobody_0', PAY, 'The account nobody_0 did not exist.'],
])('failureWords: %s', (reason, of, words) => {
  expect(failureWords(reason, of)?.en).toBe(words)
  expect(failureWords(reason, of)?.zh).toMatch(/\p{Script=Han}/u)
})

test('failureWords: a contract’s own message is unchanged, and names cannot hide text', () => {
  for (const reason of [
    '',
    'fake balance not enough 0 < 1',
    'balance not enough 0 < 1 <b>',
    'permission denied: user_029',
  ])
    expect(failureWords(`Uncaught exception: Error: ${reason}`, undefined)).toBe(undefined)
  const hidden = action(['iost', 'a\u202eb', 'c', '1', ''])
  expect(failureWords('balance not enough 0 < 1', hidden)?.en).toBe('a\\u{202e}b had 0 iost, and 1 was needed.')
})

const receipt = (func_name: string, ...args: readonly string[]): ShownReceipt => ({
  func_name,
  content: JSON.stringify(args),
})
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

const pledge = action(['alice', 'bobby', '10'], 'pledge', 'gas.iost')
const send = action(['iost', 'alice', 'carol', '1.0', ''], 'transfer', 'token.iost')
const play = action(['x'], 'play', 'ContractX')

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
