import { errors, HttpConnection } from '@elastic/elasticsearch'
import { type Slots, slots } from './slots.ts'

type ConnectionOptions = ConstructorParameters<typeof HttpConnection>[0]
type Params = Parameters<HttpConnection['request']>[0]
type RequestOptions = Parameters<HttpConnection['request']>[1]
type Answered = { body: string; headers: Record<string, string>; statusCode: number }

/**
 * Methods that are sent by fetch. If a kept socket turns out dead, Bun's fetch sends the request again, but never a
 * POST, and repeating a read is harmless. PUT and DELETE change data and are sent by node:http, which sends once.
 */
const BY_FETCH: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST'])

/** The response headers that the client reads. */
const READ_HEADERS = ['content-type', 'x-elastic-product'] as const

/**
 * Options of Bun's fetch beyond the standard. Without `proxy: false` it would use HTTP_PROXY, which node:http does not:
 * the answer must not depend on the method.
 */
const SETTINGS = { redirect: 'manual', proxy: false } as unknown as RequestInit

/**
 * A connection for the client on Bun's fetch, which takes a third of the CPU time of node:http in Bun. The caller's
 * signal is the only deadline. Answers are not compressed: compression costs both sides more than a local network does.
 */
export class FetchConnection extends HttpConnection {
  readonly #origin: string
  readonly #settings: RequestInit
  readonly #sockets: Slots
  #onIdle: (() => void) | undefined

  constructor(options: ConnectionOptions) {
    super(options)
    const { agent } = options
    const most = typeof agent === 'object' && 'maxSockets' in agent ? agent.maxSockets : undefined
    this.#sockets = slots(most ?? Number.POSITIVE_INFINITY)
    this.#origin = this.url.href.replace(/\/+$/, '')
    this.#settings = this.tls === null ? SETTINGS : ({ ...SETTINGS, tls: this.tls } as RequestInit)
  }

  override request(params: Params, options: RequestOptions): Promise<never> {
    // The client never asks for streams; its types have two results for one implementation.
    if (!BY_FETCH.has(params.method)) return super.request(params, options) as Promise<never>
    return this.#send(params, options) as Promise<never>
  }

  async #send({ method, path, querystring, headers, body }: Params, { signal }: RequestOptions) {
    await this.#sockets.take()
    try {
      return await this.#fetch(`${this.#origin}${path}${querystring ? `?${querystring}` : ''}`, {
        ...this.#settings,
        method,
        headers: headersOf(this.headers, headers),
        body: body as string | null,
        ...(signal === undefined ? {} : { signal }),
      })
    } finally {
      this.#sockets.leave()
      if (this.#sockets.taken === 0) this.#onIdle?.()
    }
  }

  async #fetch(url: string, init: RequestInit): Promise<Answered> {
    try {
      const answer = await fetch(url, init)
      const read = READ_HEADERS.map(name => [name, answer.headers.get(name) ?? ''] as const)
      return { body: await answer.text(), headers: Object.fromEntries(read), statusCode: answer.status }
    } catch (error) {
      if (init.signal?.aborted) throw new errors.RequestAbortedError('Request aborted')
      throw new errors.ConnectionError(reasonOf(error))
    }
  }

  override async close(): Promise<void> {
    if (this.#sockets.taken > 0)
      await new Promise<void>(idle => {
        this.#onIdle = idle
      })
    await super.close()
  }
}

const headersOf = (...all: readonly Params['headers'][]): Record<string, string> =>
  Object.assign({}, ...all, { 'accept-encoding': 'identity' })

/** The message of fetch without its advice to programmers. */
const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.? For more information.*$/s, '')
