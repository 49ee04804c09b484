import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { type FlagTexts, parseArguments, readSettings } from './read-settings.ts'
import { environmentName, type SettingName, settingNames } from './settings.ts'

const folder = testFolder()

const flag = (name: SettingName, text: string, file = false): FlagTexts => new Map([[name, { text, file }]])
const none: FlagTexts = new Map()

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return error.message
    throw error
  }
  throw new Error('Nothing was refused.')
}

test('readSettings: a flag overrides the environment, which overrides the default', () => {
  const both = readSettings(flag('deadline', '3s'), { IOSTLENS_DEADLINE: '4s' })
  expect([both.values.deadline, both.origins.get('deadline')]).toEqual([3_000, 'flag'])
  const one = readSettings(none, { IOSTLENS_DEADLINE: '4s', PATH: '/bin' })
  expect([one.values.deadline, one.origins.get('deadline')]).toEqual([4_000, 'environment'])
  const neither = readSettings(none, {})
  expect([neither.values.deadline, neither.origins.get('deadline')]).toEqual([10_000, 'default'])
})

test('readSettings: an empty variable counts as absent', () => {
  const { values, origins } = readSettings(none, { IOSTLENS_NODE: '', IOSTLENS_LISTEN: '' })
  expect([values.node, values.listen, origins.get('listen')]).toEqual([
    undefined,
    { host: '127.0.0.1', port: 8080 },
    'default',
  ])
})

test('readSettings: every default satisfies its own rule', () => {
  const { values } = readSettings(none, {})
  expect(Object.keys(values)).toEqual([...settingNames])
  expect(values['test-key']).toBe('off')
})

test('readSettings: an unknown variable is refused with the closest name', () => {
  expect(messageOf(() => readSettings(none, { IOSTLENS_LISTN: '1' }))).toBe(
    "Unknown environment variable 'IOSTLENS_LISTN'; the nearest one is 'IOSTLENS_LISTEN'.",
  )
  expect(messageOf(() => readSettings(none, { IOSTLENS_STORE_PASSWORD_FILES: 'x' }))).toBe(
    "Unknown environment variable 'IOSTLENS_STORE_PASSWORD_FILES'; the nearest one is 'IOSTLENS_STORE_PASSWORD_FILE'.",
  )
})

test('readSettings: variables that Kubernetes sets for Services named iostlens are ignored', () => {
  const links = {
    IOSTLENS_PORT: 'tcp://10.96.12.7:8080',
    IOSTLENS_SERVICE_HOST: '10.96.12.7',
    IOSTLENS_SERVICE_PORT: '8080',
    IOSTLENS_SERVICE_PORT_HTTP: '8080',
    IOSTLENS_PORT_8080_TCP: 'tcp://10.96.12.7:8080',
    IOSTLENS_PORT_8080_TCP_PROTO: 'tcp',
    IOSTLENS_PORT_8080_TCP_PORT: '8080',
    IOSTLENS_PORT_8080_TCP_ADDR: '10.96.12.7',
    IOSTLENS_PORT_53_UDP: 'udp://[fd00::7]:53',
    IOSTLENS_METRICS_PORT: 'tcp://[fd00::7]:9100',
    IOSTLENS_METRICS_SERVICE_HOST: 'fd00::7',
  }
  expect(readSettings(none, links)).toEqual(readSettings(none, {}))
  // The name alone does not make a variable a service link: an operator may have set it.
  for (const [name, value] of [
    ['IOSTLENS_PORT', '8080'],
    ['IOSTLENS_PORT', ''],
    ['IOSTLENS_SERVICE_HOST', 'iostlens.example'],
    ['IOSTLENS_PORT_TCP', 'tcp://10.96.12.7:8080'],
    ['IOSTLENS_SUPPORT', 'tcp://10.96.12.7:8080'],
  ] as const)
    expect(messageOf(() => readSettings(none, { [name]: value }))).toStartWith(`Unknown environment variable '${name}'`)
})

test('readSettings: an invalid value is reported with its rule and source', () => {
  expect(messageOf(() => readSettings(flag('listen', '8080'), {}))).toBe(
    "--listen is '8080'; it must be HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:8080 or [::1]:8080, or unix:PATH with a whole path of at most 90 bytes.",
  )
  expect(messageOf(() => readSettings(none, { IOSTLENS_REPLICAS: '1.5' }))).toBe(
    "IOSTLENS_REPLICAS is '1.5'; it must be a whole number from 0 to 10.",
  )
})

test('readSettings: credentials in a URL are used and never shown', () => {
  const store = 'http://elastic:hunter2@es:9200/main'
  const { values, shown } = readSettings(none, { IOSTLENS_STORE: store, IOSTLENS_NODE: 'http://u:hunter2@n' })
  expect(values.store).toEqual({
    type: 'elastic',
    url: 'http://es:9200',
    prefix: 'main',
    user: 'elastic',
    password: 'hunter2',
  })
  expect([shown.get('store'), shown.get('node')]).toEqual(['http://***@es:9200/main', 'http://***@n'])
  expect(messageOf(() => readSettings(none, { IOSTLENS_STORE: 'http://u:hunter2@es/BAD' }))).not.toContain('hunter2')
})

test('readSettings: secrets are read from a file without the last line end, and are masked', () => {
  const file = join(folder, 'password')
  writeFileSync(file, 'hunter2 \n')
  const { values, shown, origins } = readSettings(none, { IOSTLENS_STORE_PASSWORD_FILE: file })
  expect([values['store-password'], shown.get('store-password'), origins.get('store-password')]).toEqual([
    'hunter2 ',
    '***',
    `file ${file}`,
  ])
  expect(readSettings(flag('store-api-key', file, true), {}).origins.get('store-api-key')).toBe(`file ${file}`)
})

test('readSettings: an invalid secret is not repeated in the message', () => {
  expect(messageOf(() => readSettings(none, { IOSTLENS_STORE_PASSWORD: 'hunter2\nx' }))).toBe(
    'IOSTLENS_STORE_PASSWORD is not a valid secret; it must be text without line breaks or other control characters.',
  )
})

test('readSettings: a secret given twice, or in a missing file, is refused', () => {
  const twice = { IOSTLENS_STORE_PASSWORD: 'a', IOSTLENS_STORE_PASSWORD_FILE: 'b' }
  expect(messageOf(() => readSettings(none, twice))).toBe(
    'IOSTLENS_STORE_PASSWORD and IOSTLENS_STORE_PASSWORD_FILE are both set; set only one of them.',
  )
  expect(messageOf(() => readSettings(flag('test-key', join(folder, 'no'), true), {}))).toContain(
    "--test-key-file names '",
  )
})

test('environmentName: no two settings share a variable', () => {
  const names = settingNames.map(environmentName)
  expect(new Set(names).size).toBe(names.length)
})

const settings = ['node', 'once', 'to', 'test-key', 'store-password'] as const
const parse = (...args: string[]) => parseArguments('load', settings, args)
const catchUsage = (...args: string[]): string => messageOf(() => parse(...args))

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
  expect(catchUsage('--store-password', 'x')).toBe(
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
  expect(catchUsage(...args)).toBe(message)
})
