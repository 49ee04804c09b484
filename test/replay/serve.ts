import { Failure } from '#failure/failure.ts'
import { type Address, answerCall, type Call, serveCalls } from '../support/nodes/rpc/routes.ts'
import type { Recording } from './recording.ts'
import { recordedAnswer, replayNode } from './replay-node.ts'

export type ReplayOptions = Address & {
  readonly recording: Recording
  readonly to?: number
  readonly fault?: Parameters<typeof serveCalls>[2]
}

export type Replay = ReturnType<typeof serveReplay>

/**
 * Serves a recorded chain over HTTP with a node's RPC. Answers come from the blocks where possible, otherwise
 * from recorded calls. Every block up to the height is irreversible. Recorded state is that of the last
 * height at any served height.
 */
export function serveReplay({ recording, to = recording.height, fault, ...address }: ReplayOptions) {
  let height = 0
  /** Sets the last block: 0 … the recording's last height. Throws Failure 'usage'. */
  const setHeight = (next: number): void => {
    if (!Number.isInteger(next) || next < 0 || next > recording.height)
      throw new Failure('usage', `Height ${next} is not one of the recording's 0 … ${recording.height}.`)
    height = next
  }
  setHeight(to)
  const node = replayNode(recording, () => height)
  const answer = (call: Call) => answerCall(node, call, unanswered => recordedAnswer(recording, unanswered))
  const served = serveCalls(address, answer, fault)
  return { ...served, setHeight, [Symbol.asyncDispose]: served.stop }
}
