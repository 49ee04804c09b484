import { Failure } from '#failure/failure.ts'
import { clusterHosts } from './cluster-hosts.ts'
import { hostUrls } from './host-urls.ts'
import { TooLate } from './jobs.ts'
import { readCa } from './official-client.ts'
import { type Host, openHost } from './one-host.ts'
import type { Answer, ElasticAuth, Request } from './request.ts'

export type ConnectionOptions = {
  /**
   * `http(s)://host:port`, or several hosts of one cluster separated by commas; with a path where a proxy needs one;
   * never with credentials.
   */
  readonly url: string
  readonly auth?: ElasticAuth
  /** PEM file of the authority that signed the server's certificate. */
  readonly caFile?: string
  /** Longest time for one answer to a read, milliseconds. */
  readonly requestTimeoutMs?: number
  /** Maximum number of sockets to one host; further requests wait. */
  readonly maxSockets?: number
}

/** The only way to the server. */
export type Connection = {
  /** URL, for messages. */
  readonly url: string
  /** Name of the user, for messages; never the password. */
  readonly user: string
  readonly requestTimeoutMs: number
  /**
   * Sends once, but for reads, which skip the official client, because it costs more than the request itself. They are
   * sent again over a kept connection that turns out to have ended, and to another
   * host of the cluster when they are late. The hosts take turns; one that does not answer is left out until it answers
   * a probe. Every HTTP status is an answer. Throws 'unavailable' when there is no answer (the request may or may not
   * have been carried out), 'deadline' when `signal` aborts.
   */
  send(request: Request): Promise<Answer>
  /** Requests that are under way and later ones fail with 'unavailable'. */
  close(): Promise<void>
}

const REQUEST_TIMEOUT_MS = 30_000
const MAX_SOCKETS = 32

/** Nothing is sent before the first request. */
export const connect = (options: ConnectionOptions): Connection => {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS, maxSockets = MAX_SOCKETS, auth, caFile } = options
  const ca = caFile === undefined ? undefined : readCa(caFile)
  const hosts = clusterHosts(hostUrls(options.url).map(url => openHost({ url, auth, ca, maxSockets })))
  const url = options.url.replace(/\/+$/, '')
  let closed = false
  const refuseClosed = (): void => {
    if (closed) throw new Failure('unavailable', `The store ${url} was closed.`, { retryable: false })
  }
  return {
    url,
    user: userOf(options.auth),
    requestTimeoutMs,
    send: async request => {
      refuseClosed()
      if (request.signal?.aborted) throw passed(request)
      const host = hosts.next()
      const timeoutMs = request.timeoutMs ?? requestTimeoutMs
      try {
        return await hosts.send(host, request, timeoutMs)
      } catch (error) {
        refuseClosed()
        if (request.signal?.aborted) throw passed(request)
        throw hostFailure(error, host, { ...request, timeoutMs })
      }
    },
    close: async () => {
      closed = true
      hosts.close()
    },
  }
}

const passed = (request: Request): Failure =>
  new Failure('deadline', `Elasticsearch did not respond to ${request.path} before the deadline.`)

const hostFailure = (
  error: unknown,
  { url }: Host,
  { method, path, timeoutMs }: Request & { readonly timeoutMs: number },
): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof TooLate)
    return new Failure(
      'unavailable',
      `Elasticsearch at ${url} did not respond to ${method} ${path} within ${timeoutMs} ms.`,
    )
  // No cause: the client's errors carry the request with its headers.
  return new Failure('unavailable', `Elasticsearch at ${url} cannot be reached: ${messageOf(error)}.`)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const userOf = (auth: ElasticAuth | undefined): string => {
  if (auth === undefined) return 'without a user'
  return 'username' in auth ? `user '${auth.username}'` : 'the API key'
}
