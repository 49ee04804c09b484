import { holdPermit } from '#actions/answer.ts'
import { PublicFailure } from '#failure/failure.ts'
import { admit, type Gate, identify } from '#gate/gate.ts'
import type { Handler } from './exchange.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { TakenResponse } from './gateway/shared-answer.ts'
import { refuseParameters } from './refuse-parameters.ts'
import type { Reply } from './reply.ts'
import { toNodePath } from './rpc-path.ts'

/** Seconds. Without a configured node, only a restart helps. */
const NO_NODE_RETRY_SECONDS = 60

/**
 * Answers `/rpc/…` with the node's status and bytes, as JSON or plain text. Key and query are not forwarded. Cached
 * answers wait for no turn, so that a node that hangs does not delay them.
 */
export const rpcHandler =
  (gateway: Gateway | undefined, gate: Gate): Handler =>
  async (exchange, signal) => {
    const caller = await identify(exchange, gate)
    const admitted = await admit(exchange, caller, { gate, asks: 'node', signal })
    try {
      const path = toNodePath(exchange.path)
      exchange.logFields.action = path.split('/')[1] ?? ''
      refuseParameters(exchange, '/rpc/')
      if (gateway === undefined)
        throw new PublicFailure('unavailable', 'This service is not connected to a node.', {
          zh: '本服务未连接全节点。',
          details: { retryAfter: NO_NODE_RETRY_SECONDS },
        })
      const ask = () => gateway.ask(path, signal)
      const answer = gateway.kept(path) ?? (await holdPermit(admitted.turns.node(signal), ask))
      // The client has left, so nobody else would release the answer's bytes.
      if (signal.aborted) answer.release()
      return toRpcReply(answer)
    } catch (error) {
      admitted.refused(error)
      throw error
    }
  }

/** A node may return a page of its own, which must not run as one of this service, where visitors type their keys. */
const NODE_JSON = 'application/json'
const PLAIN_TYPE = 'text/plain; charset=utf-8'
const NO_DOCUMENT = "default-src 'none'; sandbox"

const toRpcReply = ({ status, contentType, body, release }: TakenResponse): Reply => ({
  status,
  type: contentType?.startsWith('application/json') === true ? NODE_JSON : PLAIN_TYPE,
  body,
  headers: { 'Cache-Control': 'no-store', 'Content-Security-Policy': NO_DOCUMENT },
  form: 'raw',
  sent: release,
})
