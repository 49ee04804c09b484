import type { Recording } from '#test/replay/recording.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { recording } from './recording.ts'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly headers: Headers
}

/** The fault of a call: an answer that replaces the node's, or undefined for the node's own. */
export type Fault = (
  asked: Asked,
  /** The node's own answer. */
  truth: () => Promise<string>,
) => Response | undefined | Promise<Response | undefined>

export type FaultyNode = {
  readonly url: string
  /** Every call so far, in order. */
  readonly asked: readonly Asked[]
  setHeight(height: number): void
  [Symbol.asyncDispose](): Promise<void>
}

/** The recorded chain, or another one, as a node on a free port, with faults. */
export async function startFaultyNode(
  fault: Fault = () => undefined,
  to?: number,
  chain?: Recording,
): Promise<FaultyNode> {
  const replay = serveReplay({ recording: chain ?? (await recording()), ...(to === undefined ? {} : { to }) })
  const asked: Asked[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: async request => {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const call = { method, path: `${pathname}${search}`, body: await request.text(), headers }
      asked.push(call)
      const forward = (): Promise<Response> =>
        fetch(`${replay.url}${call.path}`, { method, ...(method === 'POST' ? { body: call.body } : {}) })
      const wrong = await fault(call, async () => (await forward()).text())
      if (wrong !== undefined) return wrong
      const answer = await forward()
      return new Response(await answer.arrayBuffer(), {
        status: answer.status,
        headers: { 'content-type': answer.headers.get('content-type') ?? '' },
      })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    setHeight: replay.setHeight,
    [Symbol.asyncDispose]: async () => {
      await server.stop(true)
      await replay.stop()
    },
  }
}
