import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { parseArguments } from './parse-arguments.ts'

const settings = ['node', 'once', 'to', 'test-key', 'store-password'] as const
const parse = (...args: string[]) => parseArguments('load', settings, args)
function messageOf(...args: string[]): string {
  try {
    parse(...args)
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return error.message
    throw error
  }
  throw new Error('Nothing was refused.')
}

test('parseArguments: a value follows its flag or =', () => {
  expect(parse('--node', 'http://a', 'word', '--to=5')).toEqual({
    flags: new Map([
      ['node', { text: 'http://a', file: false }],
      ['to', { text: '5', file: false }],
    ]),
    words: ['word'],
    help: false,
  })
})

test('parseArguments: a switch takes no word after it', () => {
  expect(parse('--once', 'true')).toEqual({
    flags: new Map([['once', { text: 'true', file: false }]]),
    words: ['true'],
    help: false,
  })
  expect(parse('--once=false').flags).toEqual(new Map([['once', { text: 'false', file: false }]]))
})

test('parseArguments: -- ends the flags, and a lone dash is an argument', () => {
  expect(parse('-', '--', '--once', '-x').words).toEqual(['-', '--once', '-x'])
})

test('parseArguments: secrets come from files, and shared ones also from the command line', () => {
  expect(parse('--test-key', 'abcd').flags).toEqual(new Map([['test-key', { text: 'abcd', file: false }]]))
  expect(parse('--test-key-file', 'f').flags).toEqual(new Map([['test-key', { text: 'f', file: true }]]))
  expect(messageOf('--store-password', 'x')).toBe(
    'A secret cannot be given as --store-password, since process lists would contain it; use --store-password-file PATH.',
  )
})

test.each([
  [['--nod', 'x'], "Unknown flag '--nod'; the nearest one is '--node'."],
  [['-n', 'x'], "Unknown flag '--n'."],
  [['--listen', 'a:1'], "Command 'load' does not have the flag --listen."],
  [['--to', '1', '--to=2'], 'Flag --to is given twice.'],
  [['--test-key=abcd', '--test-key-file=f'], 'Flag --test-key is given twice.'],
  [['--node'], 'Flag --node needs a value: URL[,URL].'],
  [['--node', '--once'], 'Flag --node needs a value: URL[,URL].'],
] as const)('parseArguments: refuses %p', (args, message) => {
  expect(messageOf(...args)).toBe(message)
})
