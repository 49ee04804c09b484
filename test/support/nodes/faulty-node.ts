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
