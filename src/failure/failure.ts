/**
 * What went wrong, for programs: a closed list. HTTP status, API code and exit code follow from it in one table each
 * (`http/`, `cli/`).
 */
export type FailureKind =
  /** An invalid call or setting: the message names the value and the rule. */
  | 'usage'
  /** A request parameter is missing, malformed, repeated, unknown or out of range. */
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  /** What the caller goes on from was replaced by another block. */
  | 'replaced'
  | 'method_not_allowed'
  | 'uri_too_long'
  | 'rate_limited'
  /** The thing may exist, but the load has not come that far. */
  | 'loading'
  /** Store or node is out of reach, or the answer is not available now. */
  | 'unavailable'
  | 'deadline'
  /** The node answered something that is not a block, not the next block, or not the chain we load. */
  | 'bad_block'
  /** Loaded data is lost, or is not what a loader wrote: no answer is reliable until it is repaired. */
  | 'damaged'
  /** Another writer, another schema or derivation version, another chain. */
  | 'conflict'
  /** Ours. */
  | 'defect'

export type FailureOptions = {
  /** What to do about it; one sentence. */
  readonly help?: string
  /** Named values for logs and tests; never secrets. */
  readonly details?: Readonly<Record<string, string | number>>
  readonly cause?: unknown
  /** Whether the same call may go well a little later. Defaults by kind. */
  readonly retryable?: boolean
  /** The message in Simplified Chinese, for failures that reach callers of the API. */
  readonly zh?: string
}

const RETRYABLE: ReadonlySet<FailureKind> = new Set(['unavailable', 'deadline', 'loading', 'rate_limited'])

/**
 * The one error class that crosses a folder's edge. `message` says what happened, to which value, against which rule.
 * (`kind`, not `code`: Elysia gives `code` a meaning of its own.)
 */
export class Failure extends Error {
  readonly kind: FailureKind
  readonly retryable: boolean
  readonly help: string | undefined
  readonly zh: string | undefined
  readonly details: Readonly<Record<string, string | number>>

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(withoutSecrets(message), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Failure'
    this.kind = kind
    this.retryable = options.retryable ?? RETRYABLE.has(kind)
    this.help = options.help
    this.zh = options.zh === undefined ? undefined : withoutSecrets(options.zh)
    this.details = options.details ?? {}
  }
}

/** Text without credentials: user info of URLs, API keys in query strings and what has the form of our keys become `***`. */
export const withoutSecrets = (text: string): string => (MAY_HAVE_SECRETS.test(text) ? masked(text) : text)

/** Most texts have none, and a service under load has many of them to write. */
const MAY_HAVE_SECRETS = /@|apikey=|il_/i

/** A key of ours in upper or lower case, or most of one: names of the chain have at most 11 characters. */
const KEY_LIKE = /il_[0-9a-z]{12,}/gi

const masked = (text: string): string =>
  text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/]+@/gi, '$1***@')
    .replace(/([?&]apikey=)[^&\s#]*/gi, '$1***')
    .replace(KEY_LIKE, '***')

/**
 * A failure whose words are meant for callers although its kind usually has inner causes ('unavailable', 'deadline').
 * What stores and nodes say of such trouble names files and addresses, and stays in the log.
 */
export class PublicFailure extends Failure {}

/** The service starts or stops: the same request is answered soon, here or by another process. */
export class Restarting extends PublicFailure {}

/** What was thrown, as a Failure: anything else is our bug. */
export const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure('defect', String(error), { cause: error })
