import { listFlags } from '#cli/read-settings.ts'
import { commands } from '#cli/run.ts'
import { settingNames } from '#cli/settings.ts'

/** Flags of every command, and two placeholders that help texts use for a flag. */
const COMMON = ['help', 'version']
const FORMS = ['flag', 'some-name']
const FLAG = /(?<![\w-])--([a-z][a-z-]*[a-z])/g

const flagsIn = (text: string): readonly string[] => [...text.matchAll(FLAG)].map(([, flag = '']) => flag)

const ALL = new Set([...COMMON, ...FORMS, ...settingNames.flatMap(listFlags)])

/** Flags in a text, and those of them that no command has. `others` are flags of other programs. */
export function checkedFlags(
  text: string,
  others: readonly string[] = [],
): { readonly count: number; readonly unknown: readonly string[] } {
  const flags = flagsIn(text)
  return { count: flags.length, unknown: flags.filter(flag => !ALL.has(flag) && !others.includes(flag)) }
}

/** Whether the words after `iostlens ` are a command with flags that it has; `none`: no command. */
export function checkedCommand(rest: string): 'right' | 'wrong' | 'none' {
  const words = rest.split(' ')
  const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
  if (command === undefined) return 'none'
  const known = new Set([...COMMON, ...command.settings.flatMap(listFlags)])
  return flagsIn(rest).every(flag => known.has(flag)) ? 'right' : 'wrong'
}
