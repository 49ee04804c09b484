import { aligned } from './aligned.ts'
import type { Command } from './command.ts'
import { storeAddressOf } from './compose.ts'
import type { Resolved } from './read-settings.ts'
import { environmentName, settingNames, type Values } from './settings.ts'

export const config: Command = {
  name: 'config',
  words: [],
  summary: 'every setting, its value, where it came from (secrets masked)',
  about:
    'Prints every setting with its flag, its environment variable, its value and where the value came from. Secrets are shown as ***.',
  settings: settingNames,
  examples: ['iostlens config', 'IOSTLENS_LISTEN=0.0.0.0:80 iostlens config --log-level debug'],
  run: async call => {
    for (const line of configLines(call)) call.out(line)
    return 0
  },
}

const configLines = ({ values, shown, origins }: Resolved): readonly string[] =>
  aligned([
    ['FLAG', 'VARIABLE', 'VALUE', 'FROM'],
    ...settingNames.map(name => [
      `--${name}`,
      environmentName(name),
      shown.get(name) ?? (name === 'store' ? defaultStore(values) : '(not set)'),
      origins.get(name) ?? 'default',
    ]),
  ])

/** Follows from the data folder. */
const defaultStore = (values: Values): string => {
  const address = storeAddressOf(values)
  return address.type === 'sqlite' ? `sqlite:${address.path}` : ''
}
