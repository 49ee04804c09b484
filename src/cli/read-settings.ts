import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { findNearest, nearestText, quoteGiven } from '#actions/request/refusals.ts'
import { Failure, getErrorMessage, removeSecrets } from '#failure/failure.ts'
import { environmentName, getSetting, type SettingName, settingNames, type Values } from './settings.ts'

/** Values given by flags; `file` when the flag was `--name-file`. */
export type FlagTexts = ReadonlyMap<SettingName, { readonly text: string; readonly file: boolean }>
export type Environment = Readonly<Record<string, string | undefined>>

export type Resolved = {
  readonly values: Values
  readonly origins: ReadonlyMap<SettingName, Found['origin']>
  /** The given text, with secrets masked; undefined: not set. */
  readonly shown: ReadonlyMap<SettingName, string | undefined>
}

/**
 * Resolves settings from flags, then the environment (`IOSTLENS_NAME`, and `IOSTLENS_NAME_FILE` for secrets),
 * then defaults. An empty variable counts as absent, so that a compose file may pass one on. Throws 'usage'
 * for an unknown `IOSTLENS_` name, unless Kubernetes set it for a Service. Throws 'usage' for an invalid
 * value too, even of a setting that the command does not use.
 */
export function readSettings(flags: FlagTexts, environment: Environment): Resolved {
  refuseUnknown(environment)
  const values: Record<string, unknown> = {}
  const origins = new Map<SettingName, Found['origin']>()
  const texts = new Map<SettingName, string | undefined>()
  for (const name of settingNames) {
    const { reader, secret } = getSetting(name)
    const { text, origin, label } = find(name, flags, environment)
    const value = text === undefined ? undefined : reader.read(text)
    if (text !== undefined && value === undefined)
      throw new Failure(
        'usage',
        `${label} is ${secret === undefined ? quoteGiven(removeSecrets(text)) : 'not a valid secret'}; it must be ${reader.rule}.`,
      )
    values[name] = value
    origins.set(name, origin)
    texts.set(name, secret === undefined || origin === 'default' ? text && removeSecrets(text) : '***')
  }
  // Each value comes from the reader of its own name.
  return { values: values as Values, origins, shown: texts }
}

type Found = {
  readonly text: string | undefined
  readonly origin: 'flag' | 'environment' | 'default' | `file ${string}`
  readonly label: string
}

function find(name: SettingName, flags: FlagTexts, environment: Environment): Found {
  const flag = flags.get(name)
  if (flag?.file) return readFromFile(`--${name}-file`, flag.text)
  if (flag !== undefined) return { text: flag.text, origin: 'flag', label: `--${name}` }
  const variable = environmentName(name)
  const text = environment[variable] ?? ''
  const file = environment[`${variable}_FILE`] ?? ''
  if (text !== '' && file !== '')
    throw new Failure('usage', `${variable} and ${variable}_FILE are both set; set only one of them.`)
  if (file !== '') return readFromFile(`${variable}_FILE`, file)
  return text === ''
    ? { text: getSetting(name).fallback, origin: 'default', label: name }
    : { text, origin: 'environment', label: variable }
}

function readFromFile(label: string, path: string): Found {
  try {
    // Editors add a final line end, which is not part of the secret.
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    return { text, origin: `file ${path}`, label }
  } catch (cause) {
    const reason = getErrorMessage(cause)
    throw new Failure('usage', `${label} names ${quoteGiven(path)}, which cannot be read: ${reason}.`, { cause })
  }
}

function refuseUnknown(environment: Environment): void {
  const known = settingNames.flatMap(name =>
    getSetting(name).secret === undefined
      ? [environmentName(name)]
      : [environmentName(name), `${environmentName(name)}_FILE`],
  )
  for (const name of Object.keys(environment).sort()) {
    if (!name.startsWith('IOSTLENS_') || known.includes(name)) continue
    if (LINKS.some(([names, values]) => names.test(name) && values.test(environment[name] ?? ''))) continue
    throw new Failure(
      'usage',
      `Unknown environment variable ${quoteGiven(name)}${nearestText(findNearest(name, known)).en}`,
      {
        help: "'iostlens config' prints every setting.",
      },
    )
  }
}

/**
 * Names and values of the variables that Kubernetes sets in every container of a namespace for each Service
 * there: a Service named iostlens sets IOSTLENS_PORT=tcp://10.0.0.1:8080, one named iostlens-es
 * IOSTLENS_ES_PORT. https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 * The value counts too: an operator's IOSTLENS_PORT=8080 is a mistake to report, not a service link.
 */
const LINKS: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/_SERVICE_HOST$/, /^[\d.]+$|^[\da-fA-F:.]*:[\da-fA-F:.]*$/],
  [/_SERVICE_PORT(?:_[A-Z\d_]+)?$/, /^\d+$/],
  [/_PORT(?:_\d+_(?:TCP|UDP|SCTP))?$/, /^(?:tcp|udp|sctp):\/\/\S+$/],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_PROTO$/, /^(?:tcp|udp|sctp)$/],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_PORT$/, /^\d+$/],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_ADDR$/, /^[\da-fA-F:.]+$/],
]

type Arguments = {
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
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const flags = new Map<SettingName, { text: string; file: boolean }>()
  const options = tokens.filter(token => token.kind === 'option')
  for (const option of options) {
    const { name: flag, index, inlineValue: isAttached = false } = option
    if (flag === 'help' && !isAttached) continue
    const name = known.get(flag)
    if (name === undefined)
      throw unknownFlag(command, /^--[^=]*|.*/.exec(args[index] ?? '')?.[0] ?? '', [...known.keys()])
    if (flags.has(name)) throw new Failure('usage', `Flag --${name} is given twice.`)
    flags.set(name, { text: readValue(name, flag, option), file: flag !== name })
  }
  return { flags, words: positionals, help: options.some(({ name, inlineValue }) => name === 'help' && !inlineValue) }
}

function readValue(
  name: SettingName,
  flag: string,
  { value, inlineValue: isAttached }: { readonly value?: string | undefined; inlineValue?: boolean | undefined },
): string {
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
  return new Failure('usage', `Unknown flag ${quoteGiven(flag)}${nearestText(findNearest(flag, known)).en}`, {
    help: `'iostlens ${command} --help' lists the flags.`,
  })
}

/** Throws 'usage' for a password in a URL on the command line, which every user of the machine can read. */
export function refusePasswords({ flags, words }: Pick<Arguments, 'flags' | 'words'>): void {
  for (const [name, { text, file }] of flags)
    if (!file && hasPassword(text))
      throw new Failure('usage', `The URL in --${name} has a password, and process lists would contain it.`, {
        help:
          name === 'store'
            ? `Use --store-user and --store-password-file, or set ${environmentName(name)} in the environment.`
            : `Set ${environmentName(name)} in the environment instead.`,
      })
  if (words.some(hasPassword))
    throw new Failure('usage', 'A URL among the arguments has a password, and process lists would contain it.', {
      help: `A load from the archive proves its blocks, too: set ${environmentName('node')} to archive:URL in the environment.`,
    })
}

/** Whether a URL in the text has a password. Commas may separate URLs, and a password may contain @. */
function hasPassword(text: string): boolean {
  return text.split('://').some((part, at) => {
    const [authority = ''] = part.split('/', 1)
    const end = authority.lastIndexOf('@')
    return at > 0 && end >= 0 && authority.slice(0, end).includes(':')
  })
}
