import { nearest, nearestText, shown } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import type { FlagTexts } from './read-settings.ts'
import { type SettingName, settingNames, settingOf } from './settings.ts'

export type Arguments = {
  readonly flags: FlagTexts
  /** The words that are not flags, in order. */
  readonly words: readonly string[]
  readonly help: boolean
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h'])

type Flag = { readonly name: SettingName; readonly file: boolean }

/** The flags of a setting, without the dashes. */
export const flagsOf = (name: SettingName): readonly string[] => {
  const { secret } = settingOf(name)
  if (secret === undefined) return [name]
  return secret === 'shared' ? [name, `${name}-file`] : [`${name}-file`]
}

/**
 * Parses the arguments after a command's name: `--flag VALUE`, `--flag=VALUE`, and `--` before words that begin with a
 * dash. Throws 'usage' for a flag that is unknown to the command, repeated, or without its value.
 */
export const parseArguments = (
  command: string,
  settings: readonly SettingName[],
  args: readonly string[],
): Arguments => {
  const known = flagsIn(settings)
  const flags = new Map<SettingName, { text: string; file: boolean }>()
  const words: string[] = []
  let help = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') {
      words.push(...args.slice(at + 1))
      break
    }
    if (HELP.has(arg)) {
      help = true
      continue
    }
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg)
      continue
    }
    const { flag, attached } = flagIn(arg, known, command)
    if (flags.has(flag.name)) throw new Failure('usage', `Flag --${flag.name} is given twice.`)
    const text = attached ?? valueFor(flag, args[at + 1])
    if (attached === undefined && !isSwitch(flag)) at++
    flags.set(flag.name, { text, file: flag.file })
  }
  return { flags, words, help }
}

/** The flags of some settings, by their text after the dashes. */
const flagsIn = (settings: readonly SettingName[]): ReadonlyMap<string, Flag> =>
  new Map(settings.flatMap(name => flagsOf(name).map(flag => [flag, { name, file: flag !== name }])))

/** The flag in an argument, and the value after its `=`. Throws 'usage' when the command has no such flag. */
const flagIn = (arg: string, known: ReadonlyMap<string, Flag>, command: string) => {
  const [, written = arg, attached] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? []
  const flag = known.get(written)
  if (flag === undefined) throw unknownFlag(command, written, [...known.keys()])
  return { flag, attached }
}

const isSwitch = ({ name }: Flag): boolean => settingOf(name).value === 'BOOL'

const valueFor = (flag: Flag, next: string | undefined): string => {
  if (isSwitch(flag)) return 'true'
  if (next === undefined || next.startsWith('--'))
    throw new Failure(
      'usage',
      `Flag --${flag.name}${flag.file ? '-file' : ''} needs a value: ${flag.file ? 'PATH' : settingOf(flag.name).value}.`,
    )
  return next
}

/** What to do in place of a flag that a command once had. */
const REMEDIES: Partial<Record<SettingName, string>> = {
  threads: 'A process serves with one thread; for more cores start more processes with --reuse-port. ',
}

const unknownFlag = (command: string, written: string, own: readonly string[]): Failure => {
  const bare = written.replace(/^-+/, '')
  const elsewhere = settingNames.find(name => flagsOf(name).includes(bare))
  if (elsewhere !== undefined)
    return new Failure('usage', `Command '${command}' does not have the flag --${bare}.`, {
      help: `${REMEDIES[elsewhere] ?? ''}'iostlens ${command} --help' lists its flags.`,
    })
  const priv = settingNames.find(name => name === bare)
  if (priv !== undefined)
    return new Failure(
      'usage',
      `A secret cannot be given as --${bare}, since process lists would contain it; use --${bare}-file PATH.`,
    )
  const flag = `--${bare}`
  const known = [...own, 'help'].map(name => `--${name}`)
  return new Failure('usage', `Unknown flag ${shown(flag)}${nearestText(nearest(flag, known)).en}`, {
    help: `'iostlens ${command} --help' lists the flags.`,
  })
}
