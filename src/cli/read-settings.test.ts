import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { type FlagTexts, parseArguments, readSettings } from './read-settings.ts'
import {
  address,
  basePath,
  count,
  duration,
  nodeUrls,
  pathOrUrl,
  publicUrl,
  storeAddress,
  testKey,
  yesNo,
} from './setting-readers.ts'
import { type SettingName, settingNames } from './settings.ts'

const folder = testFolder()

const flag = (name: SettingName, text: string, file = false): FlagTexts => new Map([[name, { text, file }]])
const none: FlagTexts = new Map()

/** Reading these settings is a usage error with this message. */
const expectRefused = (flags: FlagTexts, environment: Record<string, string>, message: string) =>
  expect(() => readSettings(flags, environment)).toThrow(new Failure('usage', message))

test('readSettings: a flag overrides the environment, which overrides the default; an empty variable counts as absent', () => {
  for (const [flags, environment, value, origin] of [
    [flag('deadline', '3s'), { IOSTLENS_DEADLINE: '4s' }, 3_000, 'flag'],
    [none, { IOSTLENS_DEADLINE: '4s', PATH: '/bin' }, 4_000, 'environment'],
    [none, { IOSTLENS_DEADLINE: '' }, 10_000, 'default'],
    [none, {}, 10_000, 'default'],
  ] as const) {
    const { values, origins } = readSettings(flags, environment)
    expect([values.deadline, origins.get('deadline')]).toEqual([value, origin])
  }
})

test('readSettings: every default satisfies its own rule', () => {
  const { values } = readSettings(none, {})
  expect(Object.keys(values)).toEqual([...settingNames])
  expect([values['test-key'], values.node]).toEqual(['off', undefined])
})

test.each([
  ['IOSTLENS_LISTN', 'IOSTLENS_LISTEN'],
  ['IOSTLENS_STORE_PASSWORD_FILES', 'IOSTLENS_STORE_PASSWORD_FILE'],
])('readSettings: the unknown variable %s is refused with the closest name', (name, nearest) => {
  expectRefused(none, { [name]: 'x' }, `Unknown environment variable '${name}'; the nearest one is '${nearest}'.`)
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
    expect(() => readSettings(none, { [name]: value })).toThrow(`Unknown environment variable '${name}'`)
})

test('readSettings: an invalid value is reported with its rule and source', () => {
  const address =
    'HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:8080 or [::1]:8080, or unix:PATH with a whole path of at most 90 bytes'
  expectRefused(flag('listen', '8080'), {}, `--listen is '8080'; it must be ${address}.`)
  const replicas = "IOSTLENS_REPLICAS is '1.5'; it must be a whole number from 0 to 10."
  expectRefused(none, { IOSTLENS_REPLICAS: '1.5' }, replicas)
  // An invalid secret is not repeated.
  const secret =
    'IOSTLENS_STORE_PASSWORD is not a valid secret; it must be text without line breaks or other control characters.'
  expectRefused(none, { IOSTLENS_STORE_PASSWORD: 'hunter2\nx' }, secret)
})

test('readSettings: credentials in a URL are used and never shown', () => {
  const store = 'http://elastic:hunter2@es:9200/main'
  const { values, shown } = readSettings(none, { IOSTLENS_STORE: store, IOSTLENS_NODE: 'http://u:hunter2@n' })
  const elastic = { type: 'elastic', url: 'http://es:9200', prefix: 'main', user: 'elastic', password: 'hunter2' }
  expect<unknown>(values.store).toEqual(elastic)
  expect([shown.get('store'), shown.get('node')]).toEqual(['http://***@es:9200/main', 'http://***@n'])
  expect(() => readSettings(none, { IOSTLENS_STORE: 'http://u:hunter2@es/BAD' })).toThrow(/^(?!.*hunter2)/)
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

test('readSettings: a secret given twice, or in a missing file, is refused', () => {
  const twice = { IOSTLENS_STORE_PASSWORD: 'a', IOSTLENS_STORE_PASSWORD_FILE: 'b' }
  expectRefused(
    none,
    twice,
    'IOSTLENS_STORE_PASSWORD and IOSTLENS_STORE_PASSWORD_FILE are both set; set only one of them.',
  )
  expect(() => readSettings(flag('test-key', join(folder, 'no'), true), {})).toThrow("--test-key-file names '")
})

const settings = ['node', 'once', 'to', 'test-key', 'store-password'] as const
const parse = (...args: string[]) => parseArguments('load', settings, args)

test('parseArguments: a value follows its flag or =, and a switch takes no word after it', () => {
  expect(parse('--node', 'http://a', 'word', '--to=5', '--once', 'true')).toEqual({
    flags: new Map([...flag('node', 'http://a'), ...flag('to', '5'), ...flag('once', 'true')]),
    words: ['word', 'true'],
    help: false,
  })
  expect(parse('--once=false').flags).toEqual(flag('once', 'false'))
})

test('parseArguments: -- ends the flags, and a lone dash is an argument', () => {
  expect(parse('-', '--', '--once', '-x').words).toEqual(['-', '--once', '-x'])
})

test('parseArguments: secrets come from files, and shared ones also from the command line', () => {
  expect(parse('--test-key', 'abcd').flags).toEqual(flag('test-key', 'abcd'))
  expect(parse('--test-key-file', 'f').flags).toEqual(flag('test-key', 'f', true))
})

test.each([
  [['--nod', 'x'], "Unknown flag '--nod'; the nearest one is '--node'."],
  [['-n', 'x'], "Unknown flag '--n'."],
  [['--listen', 'a:1'], "Command 'load' does not have the flag --listen."],
  [['--to', '1', '--to=2'], 'Flag --to is given twice.'],
  [['--test-key=abcd', '--test-key-file=f'], 'Flag --test-key is given twice.'],
  [['--node'], 'Flag --node needs a value: URL[,URL].'],
  [['--node', '--once'], 'Flag --node needs a value: URL[,URL].'],
  [
    ['--store-password', 'x'],
    'A secret cannot be given as --store-password, since process lists would contain it; use --store-password-file PATH.',
  ],
] as const)('parseArguments: refuses %p', (args, message) => {
  expect(() => parse(...args)).toThrow(new Failure('usage', message))
})

const elastic = (url: string, prefix: string, [user, password]: readonly string[] = []) => ({
  ...{ type: 'elastic', url, prefix, user, password },
})

/** The accepted texts with their values, and refused ones. */
const readers: Readonly<
  Record<string, readonly [{ read(text: string): unknown }, Readonly<Record<string, unknown>>, readonly string[]]>
> = {
  count: [count(1, 256), { 1: 1, 256: 256 }, ['0', '257', '1e2', ' 2', '0x10', '1.0', '-1', '+1', '', '１']],
  duration: [
    duration(100, 86_400_000),
    { '100ms': 100, '10s': 10_000, '5m': 300_000, '2h': 7_200_000, '1d': 86_400_000 },
    ['99ms', '2d', '10', '10 s', '1.5s', 's', '-1s', '10S'],
  ],
  yesNo: [yesNo, { true: true, false: false }, ['TRUE', '1', 'yes', '']],
  basePath: [
    basePath,
    { '/': '', '/iost': '/iost', '/iost/': '/iost', '/a/b-c_d.e~1': '/a/b-c_d.e~1', '/.well': '/.well' },
    ['', 'iost', '//', '/a//b', '/a b', '/%61', '/a?b', '/a#b', '/..', '/a/./b', '/:x', '/*', '/中'],
  ],
  address: [
    address,
    {
      '127.0.0.1:8080': { host: '127.0.0.1', port: 8080 },
      'localhost:0': { host: 'localhost', port: 0 },
      '[::1]:65535': { host: '::1', port: 65_535 },
    },
    ['8080', ':8080', '127.0.0.1', '::1:80', 'a:65536', 'a:-1', 'http://a:80', 'a b:80'],
  ],
  nodeUrls: [
    nodeUrls,
    { 'http://a:30001/, https://user:word@b/rpc': ['http://a:30001', 'https://user:word@b/rpc'] },
    [
      ...['', 'a:30001', 'ftp://a', 'http://a,', 'http://a?x=1', 'http://a#x', 'http://'],
      ...['http://user:100%@a', 'http://user%:41@a', 'archive:https://user:100%@a'],
    ],
  ],
  pathOrUrl: [
    pathOrUrl,
    { 'prices.json': { path: 'prices.json' }, 'https://a/p.json': { url: 'https://a/p.json' } },
    ['ftp://a/p', ''],
  ],
  testKey: [
    testKey,
    { off: 'off', 'try-it': 'try-it', ['x'.repeat(100)]: 'x'.repeat(100) },
    ['abc', 'with space', 'a&b=c', 'x'.repeat(101)],
  ],
  storeAddress: [
    storeAddress,
    {
      'sqlite:data/my chain.sqlite': { type: 'sqlite', path: 'data/my chain.sqlite' },
      'http://127.0.0.1:9200': elastic('http://127.0.0.1:9200', 'iostlens'),
      'http://127.0.0.1:9200/': elastic('http://127.0.0.1:9200', 'iostlens'),
      'https://es.example:443/main': elastic('https://es.example', 'main'),
      'https://es.example/behind/proxy/main': elastic('https://es.example/behind/proxy', 'main'),
      'http://us%40er:p%3Aw@es:9200/main': elastic('http://es:9200', 'main', ['us@er', 'p:w']),
      'https://us,er:p,w@a:9200,b,[::1]:9201/behind/main': elastic('https://a:9200,b,[::1]:9201/behind', 'main', [
        'us,er',
        'p,w',
      ]),
    },
    [
      ...['', 'sqlite:', 'data.sqlite', 'postgres://a/b', 'http://a/Upper', 'http://a/_x', 'http://a/x*'],
      ...['http://a/x?y=1', 'http://a,/x', 'http://a,b:c/x', 'http://a,http://b/x'],
      ...['http://user:100%@a/x', 'http://user:%ff@a/x'],
    ],
  ],
  publicUrl: [
    publicUrl,
    {
      'https://iost.example': 'https://iost.example/',
      'http://host:81/behind/': 'http://host:81/behind/',
      'https://a/b': 'https://a/b/',
    },
    ['iost.example', 'ftp://a/', 'https://user:word@a/', 'https://a/?b', 'https://a/#b', ''],
  ],
}

test.each(Object.entries(readers))(
  '%s: some texts are accepted, and others refused',
  (_, [{ read }, accepted, refused]) => {
    for (const [text, value] of Object.entries(accepted)) expect([text, read(text)]).toEqual([text, value])
    for (const text of refused) expect([text, read(text)]).toEqual([text, undefined])
  },
)

test('duration: the rule names the limits', () => {
  expect(duration(100, 86_400_000).rule).toBe('a time from 100ms to 1d, such as 500ms, 10s, 5m, 12h, 90d')
})
