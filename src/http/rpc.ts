import { OPTION_VALUES } from '#actions/request/options.ts'
import { IGNORED } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import type { Node } from '#node/port.ts'
import type { AdmittedHandler } from './admit.ts'
import type { Exchange } from './exchange.ts'
import { nodePathOf } from './rpc-path.ts'
import { Told } from './told.ts'

/** No node is configured: nothing changes before a restart. */
const NO_NODE_RETRY_SECONDS = 60

/** Answers `/rpc/…`: the node's own status, content type and bytes. The key and the query stay here. */
export const rpcHandler =
  (node: Node | undefined): AdmittedHandler =>
  async (exchange, signal, turns) => {
    const path = nodePathOf(exchange.path)
    exchange.named.action = path.split('/')[1] ?? ''
    refuseUnknown(exchange)
    if (node === undefined)
      throw new Told('unavailable', 'This service is not connected to a node.', {
        zh: '本服务未连接全节点。',
        details: { retryAfter: NO_NODE_RETRY_SECONDS },
      })
    const { status, contentType, body, release } = await turns.node(() => node.get(path, { signal }))
    // No one waits for the answer any more, so no one else would release its bytes.
    if (signal.aborted) release()
    return {
      status,
      type: contentType,
      body,
      headers: { 'Cache-Control': 'no-store' },
      form: 'raw',
      sent: release,
    }
  }

/** The node's GET methods take no parameters; only what every call of this service knows is let pass, and unused. */
const refuseUnknown = ({ query }: Exchange): void => {
  const known = [...Object.keys(OPTION_VALUES), ...IGNORED]
  for (const [name] of query)
    if (!known.includes(name))
      throw badRequest(
        {
          en: `Unknown parameter ${shown(name)}; /rpc/ takes only 'apikey'.`,
          zh: `未知参数 ${shown(name)}；/rpc/ 只接受 'apikey'。`,
        },
        { parameter: 'apikey' },
      )
}
