import { Failure } from '#failure/failure.ts'
import { refused } from '../support/nodes/rpc/answer.ts'
import { type Address, answerCall, serveCalls } from '../support/nodes/rpc/routes.ts'
import { generatedNode } from './answers.ts'
import { type Chain, createChain } from './chain.ts'
import { type Settings, settingsOf } from './settings.ts'

export type GeneratedOptions = Partial<Settings> & Address

export type Generated = {
  /** The URL without a trailing slash. */
  readonly url: string
  readonly chain: Chain
  /** Sets the end of the chain: 0 … its settings' last height. Throws Failure 'usage'. */
  setHeight(height: number): void
  stop(): Promise<void>
}

/** Serves a generated chain over HTTP with a node's RPC. Every block up to the height is irreversible. */
export function serveGenerated({ host, port, ...given }: GeneratedOptions): Generated {
  const address = { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) }
  const chain = createChain(settingsOf(given))
  let height = chain.settings.blocks
  const node = generatedNode(chain, () => height)
  const served = serveCalls(address, call => answerCall(node, call, () => refused(12, 'Not Implemented')))
  return {
    url: served.url,
    chain,
    setHeight: next => {
      if (!Number.isInteger(next) || next < 0 || next > chain.settings.blocks)
        throw new Failure('usage', `Height ${next} is not one of 0 … ${chain.settings.blocks}.`)
      height = next
    },
    stop: served.stop,
  }
}
