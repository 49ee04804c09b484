import { Client, errors } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import type { Sending } from './http-lines.ts'
import { type HttpRequest, openRequests } from './http-requests.ts'
import { authHeaders, clientOptions, type Received, sendByClient } from './official-client.ts'
import type { Answer, ElasticAuth, Request } from './request.ts'

/** A host of a cluster. */
export type Host = {
  /** For messages. */
  readonly url: string
  /** Id of its node, which probes find out; not behind an address of several servers, nor without the privilege. */
  readonly node: string | undefined
  /** Sends a request to it once. Throws what `hostFailure` understands. */
  send(request: Request, sending: Sending): Promise<Answer>
  /** Sends one that changes nothing; also once more where a kept connection turns out to have ended. */
  read(request: Request, sending: Sending): Promise<Answer>
  /** Asks it who it is, on a connection that no request waits for; whether it answered in time. Never rejects. */
  probe(within: (work: (sending: Sending) => Promise<Answer>) => Promise<Answer>): Promise<boolean>
  close(): void
}

export type HostOptions = {
  readonly url: URL
  readonly auth: ElasticAuth | undefined
  /** PEM text. */
  readonly ca: string | undefined
  readonly maxSockets: number
}

/** Answered by any server by itself; a role that may not know it says so, which is an answer, too. */
const WHO = '/_nodes/_local?filter_path=nodes.*.name'
/** Probes that may wait at once for a connection that never comes. */
const PROBES = 8

/** Nothing is sent before the first request. */
export const openHost = ({ url, auth, ca, maxSockets }: HostOptions): Host => {
  const requests = openRequests({ url, ca, headers: authHeaders(auth), maxSockets })
  const client = new Client(clientOptions(url, requests))
  const shown = url.href.replace(/\/+$/, '')
  let node: string | undefined
  /** It has sent a successful answer. */
  let isKnown = false
  let probes = 0
  const checked = ({ isElastic, ...answer }: Received): Answer => {
    const isOther = answer.status < 300 || (!isKnown && ANSWERS_OF_OTHERS.has(answer.status))
    if (!isElastic && isOther) throw notElastic(shown, isKnown)
    isKnown ||= answer.status < 300
    return answer
  }
  return {
    url: shown,
    get node() {
      return node
    },
    send: async (request, sending) => {
      try {
        return checked(await sendByClient(client, request, sending))
      } catch (error) {
        throw error instanceof errors.ProductNotSupportedError ? notElastic(shown, isKnown) : error
      }
    },
    read: async (request, sending) => {
      const { status, text, headers } = await requests.send(readOf(request), sending)
      return checked({ status, text, isElastic: headers.get('x-elastic-product') === 'Elasticsearch' })
    },
    probe: async within => {
      if (probes >= PROBES) return false
      probes += 1
      try {
        const { status, text } = await within(sending =>
          requests.sendNow({ method: 'GET', path: WHO, isRepeatable: true }, sending).finally(() => {
            probes -= 1
          }),
        )
        node = nodeIn(text) ?? node
        // A proxy says that the server is away, or the server that it has no cluster.
        return status < 502 || status > 504
      } catch {
        return false
      }
    },
    close: requests.close,
  }
}

/** The id of the one node in the answer to `WHO`. */
const nodeIn = (text: string): string | undefined => /^\{"nodes":\{"([\w-]+)":/.exec(text)?.[1]

const readOf = ({ path, query, lines, body = lines }: Request): HttpRequest => ({
  method: body === undefined ? 'GET' : 'POST',
  path: query === undefined ? path : `${path}?${new URLSearchParams(query)}`,
  body,
  type: lines === undefined ? 'application/json' : 'application/x-ndjson',
  isRepeatable: true,
})

/** Answers of a server that does not know the path; a proxy gives other ones while Elasticsearch is away. */
const ANSWERS_OF_OTHERS: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 415, 501])

/** If it was Elasticsearch before, a proxy in front of it is answering now. */
const notElastic = (url: string, isKnown: boolean): Failure =>
  new Failure(isKnown ? 'unavailable' : 'usage', `The server at ${url} is not Elasticsearch.`, {
    help: 'Set --store to the URL of an Elasticsearch of version 8.19 or 9.',
  })
