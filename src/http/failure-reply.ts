import type { Options } from '#actions/request/options.ts'
import { writeJson } from '#chain/json.ts'
import { type Failure, PublicFailure } from '#failure/failure.ts'
import { NothingLoaded } from '#store/failures.ts'
import { codes } from './codes.ts'
import { EMPTY } from './health.ts'
import { JSON_TYPE, type Reply, textReply } from './reply.ts'

/** The language and format of a failure, and secrets that its message must not contain. */
export type ReplyOptions = Pick<Options, 'lang' | 'format'> & { readonly secrets: readonly string[] }

/** The reply for a failed request: status, code, message, and the time after which to retry. */
export function failureReply(failure: Failure, options: ReplyOptions, id: string): Reply {
  const { status, code, retryAfter } = codes[failure.kind]
  const message = hidden(formatFailureMessage(failure, options.lang), options.secrets)
  const body =
    options.format === 'bare' ? { code, message, request_id: id } : { code, message, data: {}, request_id: id }
  const { retryAfter: wait = retryAfter } = failure.details
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Language': options.lang,
    ...(wait === undefined ? {} : { 'Retry-After': String(wait) }),
    // A request body is not read, so the connection is closed.
    ...(failure.kind === 'method_not_allowed' ? { Allow: ALLOWED, Connection: 'close' } : {}),
  }
  return textReply(status, { type: JSON_TYPE, text: writeJson(body) }, { headers })
}

/** Code and message of a failure that ends a stream. */
export const failureFields = (
  failure: Failure,
  { lang, secrets }: Pick<ReplyOptions, 'lang' | 'secrets'>,
): { readonly code: number; readonly message: string } => ({
  code: codes[failure.kind].code,
  message: hidden(formatFailureMessage(failure, lang), secrets),
})

/**
 * What was wrong with a request, for the log; undefined: nothing was. A thing that does not exist is no fault of the
 * request, and the log does not tell what callers look for.
 */
export function refusalText(failure: Failure, secrets: readonly string[]): string | undefined {
  const { status, message } = codes[failure.kind]
  const isFault = message === 'own' && status < 500 && failure.kind !== 'not_found'
  return isFault ? hidden(failure.message, secrets) : undefined
}

export const ALLOWED = 'GET, HEAD, OPTIONS'

function formatFailureMessage(failure: Failure, lang: 'en' | 'zh'): string {
  // Its own message names the store.
  if (failure instanceof NothingLoaded) return [EMPTY.what[lang], EMPTY.help[lang]].join(lang === 'en' ? ' ' : '')
  const { message, title } = codes[failure.kind]
  const own = message === 'own' || (message === 'title' && failure instanceof PublicFailure)
  if (!own) return title[lang]
  return lang === 'zh' ? (failure.zh ?? failure.message) : failure.message
}

/**
 * Minimum length of a secret. A key is never repeated, even when it was sent in another parameter; shorter
 * texts are not keys.
 */
const SECRET_LETTERS = 8

const hidden = (message: string, secrets: readonly string[]): string =>
  secrets
    .filter(secret => secret.length >= SECRET_LETTERS)
    .reduce((text, secret) => withoutBegin(text.replaceAll(secret, '***'), secret), message)

/** Where a long text was truncated, the key in it may be truncated, too. */
function withoutBegin(message: string, secret: string): string {
  if (!message.includes('…')) return message
  const parts = message.split("'").map(part => {
    const cutAt = part.lastIndexOf('…')
    const before = part.slice(0, Math.max(0, cutAt))
    let length = Math.min(secret.length, before.length)
    while (length >= BEGIN_LETTERS && !before.endsWith(secret.slice(0, length))) length -= 1
    return length < BEGIN_LETTERS ? part : `${before.slice(0, before.length - length)}***${part.slice(cutAt)}`
  })
  return parts.join("'")
}

/** Minimum length of a key's prefix to hide. A shorter one reveals nothing about the rest. */
const BEGIN_LETTERS = 4
