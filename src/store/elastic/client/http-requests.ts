import type { HttpAnswer } from './http-answer.ts'
import { type LineOptions, NoAnswer } from './http-line.ts'
import { openLines, type Sending } from './http-lines.ts'
import { slots } from './slots.ts'

/** Requests to one server, over kept connections of our own. */
export type HttpRequests = {
  /** Any status is an answer. Waits for a socket where all are taken. Throws `NoAnswer` when the connection fails. */
  send(request: HttpRequest, sending: Sending): Promise<HttpAnswer>
  /** As `send`, at once: for a look at the server itself, also while all sockets wait for it. */
  sendNow(request: HttpRequest, sending: Sending): Promise<HttpAnswer>
  /** Requests under way fail; nothing is sent afterwards. */
  close(): void
}

export type HttpRequest = {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body?: string | undefined
  /** Media type of the body. */
  readonly type?: string
  /** Headers of this request beside those of all; they replace `Accept` and `type`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Nothing is different if the server carries it out twice. */
  readonly isRepeatable: boolean
}

export type HttpRequestsOptions = LineOptions & {
  /** Of every request, such as Authorization. */
  readonly headers: Readonly<Record<string, string>>
  /** Requests that are under way at once; further ones wait. */
  readonly maxSockets: number
}

export const openRequests = (options: HttpRequestsOptions): HttpRequests => {
  const textOf = requestText(options)
  const lines = openLines(options)
  const sockets = slots(options.maxSockets)
  const sendNow: HttpRequests['sendNow'] = async (request, sending) => {
    if (sending.isOver) throw new NoAnswer('The request was given up')
    return lines.send(textOf(request), sending, request.isRepeatable)
  }
  return {
    send: async (request, sending) => {
      await sockets.take()
      try {
        return await sendNow(request, sending)
      } finally {
        sockets.leave()
      }
    },
    sendNow,
    close: lines.close,
  }
}

/** Writes a request as HTTP/1.1. */
const requestText = ({ url, headers }: HttpRequestsOptions) => {
  const prefix = url.pathname.replace(/\/+$/, '')
  const always = headText({ Host: url.host, 'Accept-Encoding': 'identity', ...headers })
  const usual = `Accept: application/json\r\n`
  return ({ method, path, body, type = 'application/json', headers: own }: HttpRequest): string => {
    const target = /[^!-~]/.test(path) ? encodeURI(path) : path
    const start = `${method} ${prefix}${target} HTTP/1.1\r\n${always}${own === undefined ? usual : headText(own)}`
    if (body === undefined) return `${start}\r\n`
    const typed = own === undefined ? `Content-Type: ${type}\r\n` : ''
    return `${start}${typed}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }
}

const headText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
