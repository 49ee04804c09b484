import { parseJson } from '#chain/json.ts'
import { Failure, type FailureKind } from '#failure/failure.ts'
import type { Connection } from './connection.ts'
import type { ElasticResponse } from './request.ts'

/** An error of Elasticsearch, for a request or for one item of a bulk request. */
export type ElasticError = {
  readonly type?: string
  readonly reason?: string
  readonly index?: string
  readonly caused_by?: { readonly type?: string; readonly reason?: string }
  readonly root_cause?: readonly { readonly type?: string; readonly reason?: string }[]
}

/** Errors have some hundred texts, brackets and commas; those of a bulk request are read elsewhere. */
const ERROR_PARTS = 100_000

/** The error in an answer's body; {} if it has none. */
export const errorOf = (answer: ElasticResponse): ElasticError => {
  try {
    const body = parseJson(answer.text, ERROR_PARTS) as { error?: unknown }
    if (typeof body.error === 'string') return { reason: body.error }
    return typeof body.error === 'object' && body.error !== null ? body.error : {}
  } catch {
    return { reason: answer.text.slice(0, 200) }
  }
}

/** Whether a later attempt may succeed: overload, or a node that starts or leaves. */
export const isTransient = (status: number): boolean =>
  status === 429 || status === 502 || status === 503 || status === 504

/** The request is larger than Elasticsearch, or a proxy in front of it, accepts. */
export const TOO_LARGE = 413

export const isMissingIndex = (failure: unknown): boolean => {
  if (!(failure instanceof Failure)) return false
  const { type } = failure.details
  return type === MISSING_INDEX
}

export const MISSING_INDEX = 'index_not_found_exception'
const CLOSED_INDEX = 'index_closed_exception'
/** The disk is above the flood stage, or the index was set read-only by hand. */
export const BLOCKED = 'cluster_block_exception'

/**
 * Reason of a refused write to the served alias after a migration: the new generation is written under its own alias.
 */
export const NO_WRITE_INDEX = 'no write index is defined for alias'

/** The reason with its cause, on one line. */
export const reasonOf = (error: ElasticError): string => {
  const inner = error.caused_by?.reason ?? error.root_cause?.[0]?.reason
  const parts = [error.reason ?? error.type ?? 'no reason given']
  if (inner !== undefined && inner !== error.reason) parts.push(inner)
  return parts.join(': ').replace(/\s+/g, ' ')
}

/** The server and the purpose of a request; `what` completes "may not" and "refused to": `read balances`. */
export type RequestOrigin = { readonly connection: Pick<Connection, 'url' | 'user'>; readonly what: string }

/** Like `toFailure`, for a whole answer. */
export const failureOf = (origin: RequestOrigin, answer: ElasticResponse): Failure =>
  toFailure(origin, { status: answer.status, error: errorOf(answer) })

/** The Failure for an error; `otherwise` is the kind of an unrecognized error. */
export function toFailure(
  { connection: { url, user }, what }: RequestOrigin,
  { status, error }: { readonly status: number; readonly error: ElasticError },
  otherwise: FailureKind = 'unavailable',
): Failure {
  const reason = reasonOf(error)
  const { type } = error
  const details = { status, ...(type === undefined ? {} : { type }) }
  const passing = (message: string, help?: string): Failure =>
    new Failure('unavailable', message, { details, ...(help === undefined ? {} : { help }) })
  const lasting = (message: string, help: string, kind: FailureKind = 'unavailable'): Failure =>
    new Failure(kind, message, { retryable: false, details, help })
  if (status === 401)
    return lasting(
      `Elasticsearch at ${url} refused ${user}.`,
      "Check the user and password, or the API key, in the settings ('iostlens config').",
    )
  if (status === 400 && reason.startsWith(NO_WRITE_INDEX))
    return passing(
      `A migration has replaced the indices at ${url} (${what}).`,
      'Restart the program; it then uses the new indices.',
    )
  if (type === CLOSED_INDEX)
    return passing(
      `An index at ${url} is closed (${what}): ${reason}.`,
      `Open it: POST /${error.index ?? 'INDEX'}/_open. Waiting programs then continue by themselves.`,
    )
  if (type === MISSING_INDEX)
    return lasting(`${reason} (${what}).`, "Run: 'iostlens indices check', then 'iostlens indices create'.")
  // 503: the cluster has no master, or has not read its state yet.
  if (type === BLOCKED && status !== 503)
    return passing(
      `Elasticsearch blocks ${what}: ${reason}.`,
      'The usual cause is a full disk. Free some space; the block then clears by itself.',
    )
  if (status === 403) return lasting(`${user} may not ${what}: ${reason}.`, PRIVILEGE)
  if (isTransient(status) || status >= 500) return passing(`Elasticsearch cannot ${what} now (${status}): ${reason}.`)
  if (status === TOO_LARGE) return lasting(`A request at ${url} is too large to ${what} (413): ${reason}.`, LARGER)
  if (status >= 300 && status < 400)
    return lasting(`The server at ${url} redirects instead of letting us ${what} (${status}).`, REDIRECTED)
  // Our reads are valid for our indices, so an index that refuses one is foreign or damaged.
  const message = `Elasticsearch at ${url} refused to ${what} (${status}): ${reason}.`
  return lasting(message, "Run: 'iostlens indices check'.", otherwise)
}

const PRIVILEGE = 'Grant the role the privilege named in the message.'
const REDIRECTED = 'Set --store to the address behind the redirect: Elasticsearch itself sends none.'
const LARGER =
  'Raise the limit of the proxy in front of Elasticsearch to 16 MB (nginx: client_max_body_size 16m), or http.max_content_length of Elasticsearch.'
