import { alignColumns, type Command } from './command.ts'
import { getStoreAddress } from './compose.ts'
import { listFlags } from './read-settings.ts'
import { environmentName, getSetting, type SettingName, settingNames } from './settings.ts'

const WIDTH = 100

/** Text of `iostlens --help`. */
export function globalHelp(commands: readonly Command[]): string {
  return [
    'iostlens loads the IOST blockchain from a node and serves queries about it.',
    '',
    'usage: iostlens COMMAND [--flag VALUE …]',
    '',
    ...listSummaries(commands),
    '',
    "'iostlens COMMAND --help' explains a command and its flags.",
    ...wrapText(
      'Every flag --some-name can also be set as the environment variable IOSTLENS_SOME_NAME; the flag takes precedence.',
      '',
    ),
    '',
    'Exit codes: 0 success, 1 internal error, 2 usage error or a lasting refusal, 3 inconsistency found,',
    '            75 temporary failure, try again',
  ].join('\n')
}

/** Text of `iostlens keys --help`: the commands that begin with one word. */
export const familyHelp = (first: string, members: readonly Command[]): string =>
  [
    `usage: iostlens ${first} COMMAND [--flag VALUE …]`,
    '',
    ...listSummaries(members),
    '',
    `'iostlens ${first} COMMAND --help' explains a command and its flags.`,
  ].join('\n')

/** Text of `iostlens COMMAND --help`. */
export const commandHelp = (command: Command): string =>
  [
    `usage: iostlens ${synopsis(command)}${command.settings.length === 0 ? '' : ' [--flag VALUE …]'}`,
    '',
    ...command.about.flatMap((paragraph, at) => [...(at === 0 ? [] : ['']), ...wrapText(paragraph, '')]),
    ...(command.settings.length === 0
      ? []
      : ['', 'Flags and their environment variables:', ...command.settings.flatMap(settingHelp)]),
    '',
    'Examples:',
    ...command.examples.map(example => `  ${example}`),
  ].join('\n')

const synopsis = ({ name, words = [] }: Command): string => [name, ...words].join(' ')

function settingHelp(name: SettingName): readonly string[] {
  const { reader, about, fallback, secret } = getSetting(name)
  const { value } = reader
  const shown = listFlags(name).map(flag =>
    value === 'BOOL' ? `--${flag}` : `--${flag} ${flag === name ? value : 'PATH'}`,
  )
  const variable = environmentName(name)
  const variables = secret === undefined ? variable : `${variable}, ${variable}_FILE`
  const end = fallback === undefined || value === 'BOOL' ? '' : ` Default: ${fallback}.`
  return [`  ${shown.join(', ')}    ${variables}`, ...wrapText(`${about}${end}`, '      ')]
}

const listSummaries = (commands: readonly Command[]): readonly string[] =>
  alignColumns(commands.map(command => [synopsis(command), command.summary])).map(line => `  ${line}`)

function wrapText(text: string, indent: string): readonly string[] {
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    if (line.length > indent.length && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = indent
    }
    line += line === indent ? word : ` ${word}`
  }
  return [...lines, line]
}

export const config: Command = {
  name: 'config',
  summary: 'print every setting, its value and its source; secrets are masked',
  about: [
    'Prints every setting with its flag, its environment variable, its value and the source of the value. Secrets are printed as ***.',
  ],
  settings: settingNames,
  examples: ['iostlens config', 'IOSTLENS_LISTEN=0.0.0.0:80 iostlens config --log-level debug'],
  run: async ({ values, shown, origins, out }) => {
    const store = getStoreAddress(values)
    const rows = settingNames.map(name => [
      `--${name}`,
      environmentName(name),
      // The default store depends on the data folder.
      shown.get(name) ?? (name === 'store' && store.type === 'sqlite' ? `sqlite:${store.path}` : '(not set)'),
      origins.get(name) ?? 'default',
    ])
    for (const line of alignColumns([['FLAG', 'VARIABLE', 'VALUE', 'FROM'], ...rows])) out(line)
    return 0
  },
}
