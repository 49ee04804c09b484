import { Failure } from '#failure/failure.ts'
import type { Answer } from './answer.ts'
import type { Recording } from './recording.ts'
import { replayNode } from './replay-node.ts'
import { answerCall } from './routes.ts'

export type ReplayOptions = {
  readonly recording: Recording
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0: any free one. */
  readonly port?: number
  /** Height of the chain as the node shows it; default the recording's last. */
  readonly to?: number
  /** A block more every so many milliseconds, until the recording ends. */
  readonly growth?: { readonly intervalMs: number }
}

export type Replay = {
  /** Without a slash at its end. */
  readonly url: string
  readonly port: number
  height(): number
  /** The chain ends here from now on: 0 … the recording's last height. Throws Failure 'usage'. */
  setHeight(height: number): void
  stop(): Promise<void>
}

const responseOf = (method: string, { status, contentType, text }: Answer): Response =>
  new Response(method === 'HEAD' ? null : text, {
    status,
    headers: { 'content-type': contentType, 'access-control-allow-origin': '*' },
  })

/** Answer to a browser's question whether it may call: nothing but headers. */
const preflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers': 'Content-Type, Accept',
    },
  })

/** Serves a recorded chain over HTTP with a node's RPC. Every block up to the height is irreversible. */
export const serveReplay = ({
  recording,
  host = '127.0.0.1',
  port = 0,
  to = recording.height,
  growth,
}: ReplayOptions): Replay => {
  let height = 0
  const setHeight = (next: number): void => {
    if (!Number.isInteger(next) || next < 0 || next > recording.height)
      throw new Failure('usage', `Height ${next} is not one of the recording's 0 … ${recording.height}.`)
    height = next
  }
  setHeight(to)
  const node = replayNode(recording, () => height)
  const server = Bun.serve({
    hostname: host,
    port,
    fetch: async request => {
      if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method'))
        return preflight()
      const body = request.method === 'POST' ? await request.text() : ''
      const call = { method: request.method, path: new URL(request.url).pathname, body }
      return responseOf(request.method, await answerCall(node, recording, call))
    },
  })
  const timer =
    growth === undefined
      ? undefined
      : setInterval(() => setHeight(Math.min(height + 1, recording.height)), growth.intervalMs)
  timer?.unref()
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    port: server.port ?? port,
    height: () => height,
    setHeight,
    stop: async () => {
      clearInterval(timer)
      await server.stop(true)
    },
  }
}
