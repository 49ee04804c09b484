import { Failure } from '#failure/failure.ts'
import { answerCall } from '../support/nodes/rpc/routes.ts'
import { type Address, serveCalls } from '../support/nodes/rpc/serve-calls.ts'
import type { Recording } from './recording.ts'
import { recordedAnswer, replayNode } from './replay-node.ts'

export type ReplayOptions = Address & {
  readonly recording: Recording
  /** Height of the served chain. Default: the recording's last. */
  readonly to?: number
}

/** A served chain, stopped by `stop` or `await using`. */
export type Replay = AsyncDisposable & {
  /** Without a slash at its end. */
  readonly url: string
  readonly port: number
  height(): number
  /** Sets the last block: 0 … the recording's last height. Throws Failure 'usage'. */
  setHeight(height: number): void
  stop(): Promise<void>
}

/**
 * Serves a recorded chain over HTTP with a node's RPC. Answers come from the blocks where possible, otherwise
 * from recorded calls. Every block up to the height is irreversible. Recorded state is that of the last
 * height at any served height.
 */
export function serveReplay({ recording, to = recording.height, ...address }: ReplayOptions): Replay {
  let height = 0
  const setHeight = (next: number): void => {
    if (!Number.isInteger(next) || next < 0 || next > recording.height)
      throw new Failure('usage', `Height ${next} is not one of the recording's 0 … ${recording.height}.`)
    height = next
  }
  setHeight(to)
  const node = replayNode(recording, () => height)
  const served = serveCalls(address, call =>
    answerCall(node, call, unanswered => recordedAnswer(recording, unanswered)),
  )
  return {
    url: served.url,
    port: served.port,
    height: () => height,
    setHeight,
    stop: served.stop,
    [Symbol.asyncDispose]: served.stop,
  }
}
