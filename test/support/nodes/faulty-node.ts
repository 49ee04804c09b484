import type { Recording } from '#test/replay/recording.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { recording } from './recording.ts'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly headers: Headers
}

/** Whether a call asks for a block, alone or in a range, in whichever form. */
export function isAskedFor(height: number, { path, body }: Pick<Asked, 'path' | 'body'>): boolean {
  if (path.startsWith(`/getBlockByNumber/${height}/`) || path.startsWith(`/getRawBlockByNumber/${height}/`)) return true
  if (!body.startsWith('{')) return false
  const { from_block, to_block, start, end } = JSON.parse(body) as Record<string, number | string>
  const [first, last] = [Number(from_block ?? start), Number(to_block ?? Number(end) - 1)]
  return first <= height && height <= last
}

/** The fault of a call: an answer that replaces the node's, or undefined for the node's own. */
export type Fault = (
  asked: Asked,
  /** The node's own answer. */
  truth: () => Promise<string>,
) => Response | undefined | Promise<Response | undefined>

export type FaultyNode = Awaited<ReturnType<typeof startFaultyNode>>

/** The recorded chain, or another one, as a node on a free port, with faults. `asked`: every call so far, in order. */
export async function startFaultyNode(fault: Fault = () => undefined, to?: number, chain?: Recording) {
  const asked: Asked[] = []
  const replay = serveReplay({
    recording: chain ?? (await recording()),
    ...(to === undefined ? {} : { to }),
    fault: async ({ url, headers }, call, truth) => {
      const one = { ...call, path: `${call.path}${new URL(url).search}`, headers }
      asked.push(one)
      return fault(one, truth)
    },
  })
  return { ...replay, asked }
}
