import { expect, test } from 'bun:test'
import { listFlags } from './read-settings.ts'
import { commands, run } from './run.ts'
import { environmentName, settingNames } from './settings.ts'
import { createScreen } from './stderr.ts'

async function outcome(args: readonly string[], environment: Record<string, string> = {}) {
  const out: string[] = []
  let err = ''
  const screen = createScreen({
    write: text => {
      err += text
    },
    isTerminal: false,
    columns: () => 80,
  })
  const stop = () => new AbortController().signal
  const provingProgram = new URL('../proving-thread.ts', import.meta.url)
  const writingProgram = new URL('../writing-thread.ts', import.meta.url)
  const code = await run(args, {
    ...{ version: '1.2.3', environment, screen, stop, provingProgram, writingProgram },
    out: line => out.push(line),
    droppedLines: () => 0,
  })
  return { code, out: out.join('\n'), err }
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

test.each([
  [[], 'No command is given.', "'iostlens --help' lists the commands."],
  [['srve'], "Unknown command 'srve'; the nearest one is 'serve'.", "'iostlens --help' lists the commands."],
  [
    ['keys'],
    "'keys' must be followed by one of: add, list, show, change, rotate, revoke, export, import.",
    "'iostlens keys --help' explains the command.",
  ],
  [
    ['keys', 'ad'],
    "Unknown command 'keys ad'; 'keys' must be followed by one of: add, list, show, change, rotate, revoke, export, import.",
    "'iostlens keys --help' explains the command.",
  ],
  [['keys', 'add'], "Command 'keys add' needs the argument NAME.", "'iostlens keys add --help' explains the command."],
  [
    ['keys', 'list', 'x'],
    "Command 'keys list' takes no argument; 'x' is one too many.",
    "'iostlens keys list --help' explains the command.",
  ],
  [
    ['load'],
    "Command 'load' needs a node.",
    'Set it with --node URL or IOSTLENS_NODE, such as http://127.0.0.1:30001.',
  ],
  [
    ['config', '--listne=a:1'],
    "Unknown flag '--listne'; the nearest one is '--listen'.",
    "'iostlens config --help' lists the flags.",
  ],
] as const)('run: %p is a usage error', async (args, message, help) => {
  expect(await outcome(args)).toEqual({ code: 2, out: '', err: `iostlens: ${message}\n  ${help}\n` })
})

test('run: config shows the source of each value, and no secret', async () => {
  const { code, out } = await outcome(['config', '--listen', '[::1]:0', '--test-key=try-it'], {
    IOSTLENS_STORE: 'http://elastic:hunter2@es:9200/main',
    IOSTLENS_STORE_PASSWORD: 'hunter3',
  })
  const rows = new Map(
    out
      .split('\n')
      .map(line => line.split(/ {2,}/))
      .map(([flag, ...rest]) => [flag, rest]),
  )
  expect(code).toBe(0)
  expect(rows.size).toBe(settingNames.length + 1)
  expect([
    rows.get('--listen'),
    rows.get('--store'),
    rows.get('--store-password'),
    rows.get('--test-key'),
    rows.get('--deadline'),
    rows.get('--node'),
  ]).toEqual([
    ['IOSTLENS_LISTEN', '[::1]:0', 'flag'],
    ['IOSTLENS_STORE', 'http://***@es:9200/main', 'environment'],
    ['IOSTLENS_STORE_PASSWORD', '***', 'environment'],
    ['IOSTLENS_TEST_KEY', '***', 'flag'],
    ['IOSTLENS_DEADLINE', '10s', 'default'],
    ['IOSTLENS_NODE', '(not set)', 'default'],
  ])
  expect(out).not.toMatch(/hunter|try-it/)
})

test('run: the default store is in the data folder', async () => {
  const { out } = await outcome(['config', '--data', '/var/chain'])
  expect(out).toMatch(/^--store +IOSTLENS_STORE +sqlite:\/var\/chain\/iostlens\.sqlite +default$/m)
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

test('run: user and password of the store must both be given', async () => {
  const es = { IOSTLENS_STORE: 'http://127.0.0.1:1/x' }
  const messages = await Promise.all([
    outcome(['indices', 'check', '--store-user', 'u'], es),
    outcome(['indices', 'check'], { ...es, IOSTLENS_STORE_PASSWORD: 'p' }),
    outcome(['indices', 'check', '--store-user', 'u'], { ...es, IOSTLENS_STORE_API_KEY: 'k' }),
  ])
  expect(messages.map(({ code, err }) => [code, err.split('\n')[0]])).toEqual([
    [2, "iostlens: The Elasticsearch user 'u' is set without a password."],
    [2, 'iostlens: An Elasticsearch password is set without a user.'],
    [2, 'iostlens: Both a user and an API key of Elasticsearch are set; set only one of them.'],
  ])
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
        expect([command.name, line[0], code, out, err]).toEqual([
          command.name,
          line[0],
          2,
          '',
          expect.stringMatching(
            /has a password, and process lists would contain it\.\n {2}.*IOSTLENS_[A-Z_]+ .*environment/,
          ),
        ])
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
] as const)(
  'run: the reason for which a process ends is one line of JSON if the log is: %s',
  async (_, args, environment) => {
    const { code, err } = await outcome(args, environment)
    const line = JSON.parse(err)
    expect([err.split('\n').length, code]).toEqual([2, 2])
    expect(line).toEqual({
      ...{ time: expect.any(String), level: 'error', message: expect.any(String), kind: expect.any(String) },
      ...(line.help === undefined ? {} : { help: expect.any(String) }),
      exit_code: 2,
    })
  },
)
