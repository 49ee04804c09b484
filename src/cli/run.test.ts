import { expect, test } from 'bun:test'
import { listFlags } from './read-settings.ts'
import { commands, run } from './run.ts'
import { environmentName, settingNames } from './settings.ts'
import { createScreen } from './stderr.ts'

async function outcome(args: readonly string[], environment: Record<string, string> = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await run(args, {
    ...{ version: '1.2.3', environment, out: line => out.push(line), droppedLines: () => 0 },
    screen: createScreen({ write: text => err.push(text), isTerminal: false, columns: () => 80 }),
    stop: () => new AbortController().signal,
    provingProgram: new URL('../proving-thread.ts', import.meta.url),
    writingProgram: new URL('../writing-thread.ts', import.meta.url),
  })
  return { code, out: out.join('\n'), err: err.join('') }
}

test('run: --help lists every command', async () => {
  const { code, out, err } = await outcome(['--help'])
  for (const { name, summary } of commands) {
    expect(out).toContain(`  ${name}`)
    expect(out).toContain(summary)
  }
  expect([code, err]).toEqual([0, ''])
  expect(await outcome(['help'])).toEqual({ code, out, err })
})

test.each(commands.map(({ name }) => name))('run: %s --help names every flag and its variable', async name => {
  const { code, out, err } = await outcome([...name.split(' '), '--help'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toStartWith(`usage: iostlens ${name}`)
  for (const setting of commands.find(command => command.name === name)?.settings ?? []) {
    expect(out).toContain(environmentName(setting))
    for (const flag of listFlags(setting)) expect(out).toContain(`--${flag}`)
  }
  expect(await outcome(['help', ...name.split(' ')])).toEqual({ code, out, err })
})

test('run: no line of a help text is wider than 100 characters', async () => {
  const names = ['', 'keys', 'indices', ...commands.map(({ name }) => name)]
  const texts = await Promise.all(names.map(name => outcome([...name.split(' ').filter(Boolean), '--help'])))
  const lines = texts.flatMap(({ out }) => out.split('\n'))
  expect(lines.filter(line => line.length > 100)).toEqual([])
})

test('run: every setting belongs to some command', () => {
  const used = new Set(commands.filter(({ name }) => name !== 'config').flatMap(({ settings }) => settings))
  expect(settingNames.filter(name => !used.has(name))).toEqual([])
})

const explained = (command: string): string => `'iostlens ${command}--help' explains the command.`
const LISTED = "'iostlens --help' lists the commands."
const KEYS = "'keys' must be followed by one of: add, list, show, change, rotate, revoke, export, import."

test.each([
  ['', 'No command is given.', LISTED],
  ['srve', "Unknown command 'srve'; the nearest one is 'serve'.", LISTED],
  ['keys', KEYS, explained('keys ')],
  ['keys ad', `Unknown command 'keys ad'; ${KEYS}`, explained('keys ')],
  ['keys add', "Command 'keys add' needs the argument NAME.", explained('keys add ')],
  ['keys list x', "Command 'keys list' takes no argument; 'x' is one too many.", explained('keys list ')],
  ['load', "Command 'load' needs a node.", 'Set it with --node URL or IOSTLENS_NODE, such as http://127.0.0.1:30001.'],
  [
    'config --listne=a:1',
    "Unknown flag '--listne'; the nearest one is '--listen'.",
    "'iostlens config --help' lists the flags.",
  ],
])('run: %j is a usage error', async (line, message, help) => {
  const args = line.split(' ').filter(Boolean)
  expect(await outcome(args)).toEqual({ code: 2, out: '', err: `iostlens: ${message}\n  ${help}\n` })
})

test('run: config shows the source of each value, and no secret', async () => {
  const { code, out } = await outcome(['config', '--listen', '[::1]:0', '--test-key=try-it'], {
    IOSTLENS_STORE: 'http://elastic:hunter2@es:9200/main',
    IOSTLENS_STORE_PASSWORD: 'hunter3',
  })
  const rows = out.split('\n').map(line => line.split(/ {2,}/).join('  '))
  expect([code, rows.length]).toEqual([0, settingNames.length + 1])
  for (const row of [
    '--listen  IOSTLENS_LISTEN  [::1]:0  flag',
    '--store  IOSTLENS_STORE  http://***@es:9200/main  environment',
    '--store-password  IOSTLENS_STORE_PASSWORD  ***  environment',
    '--test-key  IOSTLENS_TEST_KEY  ***  flag',
    '--deadline  IOSTLENS_DEADLINE  10s  default',
    '--node  IOSTLENS_NODE  (not set)  default',
  ])
    expect(rows).toContain(row)
  expect(out).not.toMatch(/hunter|try-it/)
  const other = await outcome(['config', '--data', '/var/chain'])
  expect(other.out).toMatch(/^--store +IOSTLENS_STORE +sqlite:\/var\/chain\/iostlens\.sqlite +default$/m)
})

test('run: --version prints one line', async () => {
  expect(await outcome(['--version'])).toEqual(await outcome(['version']))
  expect((await outcome(['version'])).out).toBe('iostlens 1.2.3')
})

test('run: indices print needs no store', async () => {
  const sql = await outcome(['indices', 'print'])
  expect([sql.code, sql.out.includes('CREATE TABLE "blocks"')]).toEqual([0, true])
  const json = await outcome(['indices', 'print', '--store', 'http://nowhere.invalid:1/main'])
  const names = Object.keys(JSON.parse(json.out))
  expect([names.every(name => name.startsWith('main-')), names.includes('main-blocks-000000')]).toEqual([true, true])
})

test.each([
  [{ USER: 'u' }, "The Elasticsearch user 'u' is set without a password."],
  [{ PASSWORD: 'p' }, 'An Elasticsearch password is set without a user.'],
  [{ USER: 'u', API_KEY: 'k' }, 'Both a user and an API key of Elasticsearch are set; set only one of them.'],
])('run: credentials %p of the store are refused', async (given, message) => {
  const named = Object.entries(given).map(([name, value]) => [`IOSTLENS_STORE_${name}`, value])
  const environment = { IOSTLENS_STORE: 'http://127.0.0.1:1/x', ...Object.fromEntries(named) }
  const { code, err } = await outcome(['indices', 'check'], environment)
  expect([code, err.split('\n')[0]]).toEqual([2, `iostlens: ${message}`])
})

test('run: a password in a URL on the command line is refused by every flag and argument, and read from the environment', async () => {
  const urls = [
    'http://u:hunter2@127.0.0.1:1/x',
    'http://127.0.0.1:1,https://u:hunter2,@127.0.0.1:1/x',
    'archive:https://u:hunter2@127.0.0.1:1',
    'http://u:hunter2@x@127.0.0.1:1/x',
  ]
  for (const command of commands) {
    const flags = command.settings.filter(name => listFlags(name).includes(name))
    const words = (command.words ?? []).map(() => 'x')
    for (const url of urls) {
      const named = flags.map(name => [`--${name}=${url}`, ...words])
      const lines = command.words === undefined ? named : [...named, words.map(() => url)]
      for (const line of lines) {
        const { code, out, err } = await outcome([...command.name.split(' '), ...line])
        expect([command.name, line[0], code, out]).toEqual([command.name, line[0], 2, ''])
        expect(err).toMatch(
          /has a password, and process lists would contain it\.\n {2}.*IOSTLENS_[A-Z_]+ .*environment/,
        )
        expect(err).not.toContain('hunter2')
      }
    }
  }
  const { code, out } = await outcome(['config'], {
    IOSTLENS_STORE: 'http://u:hunter2@127.0.0.1:1/x',
    IOSTLENS_NODE: 'http://u:hunter2@127.0.0.1:1,archive:https://u:hunter2@127.0.0.1:2',
    IOSTLENS_PRICES: 'http://u:hunter2@127.0.0.1:1/prices.json',
  })
  expect([code, out.includes('hunter2'), out.split('***').length]).toEqual([0, false, 5])
})

test.each([
  ['a flag', ['keys', 'list', '--log-format', 'json', '--store', 'sqlite:/'], {}],
  ['the environment', ['keys', 'list', '--store', 'sqlite:/'], { IOSTLENS_LOG_FORMAT: 'json' }],
  ['a command line that is wrong itself', ['kyes', '--log-format=json'], {}],
  ['a wrong setting', ['load', '--log-format=json', '--threads', '0'], {}],
] as const)('run: the reason for an end is one line of JSON: %s', async (_, args, environment) => {
  const { code, err } = await outcome(args, environment)
  const line = JSON.parse(err)
  expect([err.split('\n').length, code]).toEqual([2, 2])
  expect(line).toEqual({
    ...{ time: expect.any(String), level: 'error', message: expect.any(String), kind: expect.any(String) },
    ...(line.help === undefined ? {} : { help: expect.any(String) }),
    exit_code: 2,
  })
})
