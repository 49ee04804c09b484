import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Asked = {
  /** Number of the request, from 1, in order of arrival. */
  readonly number: number
  readonly method: string
  readonly path: string
  readonly body: string
}
export type Answered = { readonly status: number; readonly body: string }

export type Fate =
  | { readonly type: 'pass' }
  /** The connection is closed and the server never receives the request. */
  | { readonly type: 'cut-before' }
  /** The server handles the request, then the connection is closed. */
  | { readonly type: 'cut-after' }
  | { readonly type: 'answer'; readonly with: Answered }
  | { readonly type: 'change'; readonly to: (answer: Answered) => Answered }
  /** The request is passed on when the promise resolves. */
  | { readonly type: 'hold'; readonly until: Promise<unknown> }
  /** The server handles this request and all earlier ones, then `run` runs. The client gets no answer. */
  | { readonly type: 'end'; readonly run: () => void }

export const pass: Fate = { type: 'pass' }

/** A proxy whose `fateOf` decides about every request. With `remember: false`, `asked` stays empty. */
export async function openProxy(
  target: string | (() => string),
  fateOf: (asked: Asked) => Fate,
  { remember = true }: { readonly remember?: boolean } = {},
) {
  const asked: Asked[] = []
  let number = 0
  const underWay = new Set<Promise<Answered>>()
  const forwarded = (one: Asked, headers: IncomingMessage['headers']): Promise<Answered> => {
    const answer = forward(typeof target === 'string' ? target : target(), one, headers)
    underWay.add(answer)
    const end = () => void underWay.delete(answer)
    answer.then(end, end)
    return answer
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    number += 1
    const one = { number, method: request.method ?? '', path: request.url ?? '', body }
    if (remember) asked.push(one)
    const fate = fateOf(one)
    if (fate.type === 'cut-before') return void request.socket.destroy()
    if (fate.type === 'hold') await fate.until
    const answer = fate.type === 'answer' ? fate.with : await forwarded(one, request.headers)
    if (fate.type === 'end') {
      await Promise.allSettled(underWay)
      return fate.run()
    }
    if (fate.type === 'cut-after') return void request.socket.destroy()
    const { status, body: text } = fate.type === 'change' ? fate.to(answer) : answer
    response.writeHead(status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
    response.end(text)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: asked as readonly Asked[],
    close: () =>
      new Promise<void>(closed => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

async function forward(
  target: string,
  { method, path, body }: Asked,
  headers: IncomingMessage['headers'],
): Promise<Answered> {
  const answer = await fetch(target + path, {
    method,
    headers: {
      'content-type': headers['content-type'] ?? 'application/json',
      accept: headers.accept ?? 'application/json',
    },
    ...(body === '' ? {} : { body }),
  })
  return { status: answer.status, body: await answer.text() }
}
