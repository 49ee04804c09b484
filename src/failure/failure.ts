/**
 * The kind of a failure, for programs: a closed list. The HTTP status, the API code and the exit code follow
 * from it, each by one table (`http/`, `cli/`).
 */
export type FailureKind =
  /** An invalid call or setting: the message names the value and the rule. */
  | 'usage'
  /** A request parameter is missing, malformed, repeated, unknown or out of range. */
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  /** The block from which the caller continues was replaced by another one. */
  | 'replaced'
  | 'method_not_allowed'
  | 'uri_too_long'
  | 'rate_limited'
  /** The object may exist, but the load has not reached its block yet. */
  | 'loading'
  /** The store or the node is out of reach, or the answer is not available now. */
  | 'unavailable'
  | 'deadline'
  /** The node returned something that is not a block, not the next block, or not of the loaded chain. */
  | 'bad_block'
  /** Stored data is lost, or differs from what a loader wrote: no answer is reliable until it is repaired. */
  | 'damaged'
  /** Another writer, another version of the schema or derivation, or another chain. */
  | 'conflict'
  /** A bug of this program. */
  | 'defect'

export type FailureOptions = {
  /** A remedy, in one sentence. */
  readonly help?: string | undefined
  /** Named values for logs and tests; never secrets. */
  readonly details?: Readonly<Record<string, string | number>>
  readonly cause?: unknown
  /** Whether the same call may succeed a little later. The default depends on the kind. */
  readonly retryable?: boolean
  /** The message in Simplified Chinese, for failures that reach callers of the API. */
  readonly zh?: string | undefined
}

const RETRYABLE: ReadonlySet<FailureKind> = new Set(['unavailable', 'deadline', 'loading', 'rate_limited'])

/**
 * The only error class that crosses a folder's boundary. `message` says what happened, to which value,
 * against which rule. (`kind`, not `code`: Elysia gives `code` a meaning of its own.)
 */
export class Failure extends Error {
  readonly kind: FailureKind
  readonly retryable: boolean
  readonly help: string | undefined
  readonly zh: string | undefined
  readonly details: Readonly<Record<string, string | number>>

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(removeSecrets(message), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Failure'
    this.kind = kind
    this.retryable = options.retryable ?? RETRYABLE.has(kind)
    this.help = options.help
    this.zh = options.zh === undefined ? undefined : removeSecrets(options.zh)
    this.details = options.details ?? {}
  }
}

/**
 * Text without credentials: user info of URLs, values of `apikey` in query strings, and texts in the form of
 * our API keys become `***`.
 */
export const removeSecrets = (text: string): string =>
  MAY_HAVE_SECRETS.test(text)
    ? text
        .replace(/:\/\/[^\s/]+@/g, '://***@')
        .replace(/([?&]apikey=)[^&\s#]*/gi, '$1***')
        .replace(KEY_LIKE, '***')
    : text

/** A quick test: most texts have no secrets, and a busy service writes many texts. */
const MAY_HAVE_SECRETS = /@|apikey=|il_/i

/** An API key of ours in upper or lower case, or most of one: names of the chain have at most 11 characters. */
const KEY_LIKE = /il_[0-9a-z]{12,}/gi

/**
 * A failure whose message is shown to callers although its kind usually has internal causes ('unavailable',
 * 'deadline'). Messages of stores and nodes about such causes contain file names and addresses, so they stay
 * in the log.
 */
export class PublicFailure extends Failure {}

/** The service is starting or stopping: the same request will be answered soon, by this process or another. */
export class Restarting extends PublicFailure {}

/** The message of a thrown value; of a value that is no error, its text. */
export const getErrorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The thrown value as a Failure. A value of any other class becomes a 'defect', since it is a bug of ours. */
export const toFailure = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure('defect', String(error), { cause: error })

/**
 * Foreign text, made safe for a message: escapes every character that could disturb a log or a terminal
 * (controls, line separators, direction marks, lone surrogates).
 */
export const escapeForeignText = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, mark => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`)

/** Writes one structured line: a constant sentence and its values. Never parameters of a request, never keys. */
export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, string | number>>,
) => void

/** The result of some work; undefined when it fails in one of these ways. Any other failure is thrown. */
export async function catchKinds<T>(kinds: readonly FailureKind[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Failure && kinds.includes(error.kind)) return undefined
    throw error
  }
}
