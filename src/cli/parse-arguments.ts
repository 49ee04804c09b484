import { parseArgs } from 'node:util'
import { nearest, nearestText, shown } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import type { FlagTexts } from './read-settings.ts'
import { getSetting, type SettingName, settingNames } from './settings.ts'

export type Arguments = {
  readonly flags: FlagTexts
  /** The words that are not flags, in order. */
  readonly words: readonly string[]
  readonly help: boolean
}

/** The flags of a setting, without the dashes. */
export function listFlags(name: SettingName): readonly string[] {
  const { secret } = getSetting(name)
  if (secret === undefined) return [name]
  return secret === 'shared' ? [name, `${name}-file`] : [`${name}-file`]
}

/**
 * Parses the arguments after a command's name: `--flag VALUE`, `--flag=VALUE`, and `--` before words that begin with a
 * dash. Throws 'usage' for a flag that is unknown to the command, repeated, or without its value.
 */
export function parseArguments(command: string, settings: readonly SettingName[], args: readonly string[]): Arguments {
  const known = new Map(settings.flatMap(name => listFlags(name).map(flag => [flag, name] as const)))
  const types = [...known].map(([flag, name]) => [flag, { type: isSwitch(name) ? 'boolean' : 'string' }] as const)
  // Its own errors have no remedy, so it only splits the arguments.
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options: { help: { type: 'boolean', short: 'h' }, ...Object.fromEntries(types) },
    ...{ strict: false, allowPositionals: true, tokens: true },
  })
  const flags = new Map<SettingName, { text: string; file: boolean }>()
  const options = tokens.filter(token => token.kind === 'option')
  for (const { name: flag, index, value, inlineValue = false } of options) {
    if (flag === 'help' && !inlineValue) continue
    const name = known.get(flag)
    if (name === undefined)
      throw unknownFlag(command, /^--[^=]*|.*/.exec(args[index] ?? '')?.[0] ?? '', [...known.keys()])
    if (flags.has(name)) throw new Failure('usage', `Flag --${name} is given twice.`)
    flags.set(name, { text: readValue(name, { flag, value, isAttached: inlineValue }), file: flag !== name })
  }
  return { flags, words: positionals, help: options.some(({ name, inlineValue }) => name === 'help' && !inlineValue) }
}

type Given = { readonly flag: string; readonly value: string | undefined; readonly isAttached: boolean }

function readValue(name: SettingName, { flag, value, isAttached }: Given): string {
  if (isSwitch(name)) return value ?? 'true'
  if (value !== undefined && (isAttached || !value.startsWith('--'))) return value
  const wanted = flag === name ? getSetting(name).reader.value : 'PATH'
  throw new Failure('usage', `Flag --${flag} needs a value: ${wanted}.`)
}

function isSwitch(name: SettingName): boolean {
  return getSetting(name).reader.value === 'BOOL'
}

/** What to do in place of a flag that a command once had. */
const REMEDIES: Partial<Record<SettingName, string>> = {
  threads: 'A process serves with one thread; for more cores start more processes with --reuse-port. ',
}

function unknownFlag(command: string, written: string, own: readonly string[]): Failure {
  const bare = written.replace(/^-+/, '')
  const elsewhere = settingNames.find(name => listFlags(name).includes(bare))
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
