import { aligned } from './aligned.ts'
import type { Command } from './command.ts'
import { getStoreAddress } from './compose.ts'
import type { Resolved } from './read-settings.ts'
import { environmentName, settingNames, type Values } from './settings.ts'

export const config: Command = {
  name: 'config',
  summary: 'print every setting, its value and its source; secrets are masked',
  about: [
    'Prints every setting with its flag, its environment variable, its value and the source of the value. Secrets are printed as ***.',
  ],
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

/** The default depends on the data folder. */
function defaultStore(values: Values): string {
  const address = getStoreAddress(values)
  return address.type === 'sqlite' ? `sqlite:${address.path}` : ''
}
