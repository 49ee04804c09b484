import { holdPermit } from '#actions/answer.ts'
import { badRequest, nearest, nearestText, shown } from '#actions/request/refusals.ts'
import { Failure, PublicFailure } from '#failure/failure.ts'
import { admit, type Gate, identify } from '#gate/gate.ts'
import { type Handler, refuseParameters } from './exchange.ts'
import type { Gateway, TakenResponse } from './gateway.ts'
import type { Reply } from './reply.ts'
import { formatMethodTemplate, type RpcMethod, rpcMethods, rpcUnavailable } from './rpc-methods.ts'

/** An hour: disabled methods do not become available by themselves. */
const SWITCHED_OFF_RETRY_SECONDS = 3_600

/**
 * The node's path for a gateway path, `/rpc/getAccount/admin/true` → `/getAccount/admin/true`. Only allowed
 * methods with valid segments are accepted; segments are not decoded. Throws 'not_found', 'bad_request', or
 * 'unavailable' for disabled methods.
 */
export function toNodePath(path: string): string {
  const [name = '', ...segments] = path.slice('/rpc/'.length).split('/')
  if (rpcUnavailable.includes(name) && segments.length === 0)
    throw new PublicFailure('unavailable', `Method ${name} is temporarily unavailable.`, {
      zh: `方法 ${name} 暂时不可用。`,
      details: { retryAfter: SWITCHED_OFF_RETRY_SECONDS },
    })
  const method = rpcMethods.find(known => known.name === name)
  if (method === undefined) throw unknownMethod(name)
  if (segments.length !== method.segments.length) throw wrongForm(method)
  for (const [place, segment] of method.segments.entries()) {
    const text = segments[place] ?? ''
    if (!segment.pattern.test(text))
      throw badRequest(
        {
          en: `Segment '${segment.name}' of ${formatMethodTemplate(method)} is ${shown(text)}; it must be ${segment.rule.en}.`,
          zh: `${formatMethodTemplate(method)} 的路径段 '${segment.name}' 的值为 ${shown(text)}；取值须为：${segment.rule.zh}。`,
        },
        { parameter: segment.name },
      )
  }
  return `/${[name, ...segments].join('/')}`
}

function unknownMethod(name: string): Failure {
  if (name === '')
    return new Failure('not_found', 'The path has no method after /rpc/, such as /rpc/getNodeInfo.', {
      zh: '路径中 /rpc/ 之后缺少方法名，例如 /rpc/getNodeInfo。',
    })
  const names = rpcMethods.map(method => method.name)
  const near = nearestText(nearest(name, names))
  return new Failure('not_found', `Unknown method ${shown(name)}${near.en}`, {
    zh: `未知方法 ${shown(name)}${near.zh}`,
  })
}

const wrongForm = (method: RpcMethod): Failure =>
  new Failure('not_found', `Method ${method.name} must be called as ${formatMethodTemplate(method)}.`, {
    zh: `方法 ${method.name} 的调用格式为 ${formatMethodTemplate(method)}。`,
  })

/** Seconds. Without a configured node, only a restart helps. */
const NO_NODE_RETRY_SECONDS = 60

/**
 * Answers `/rpc/…` with the node's status and bytes, as JSON or plain text. Key and query are not forwarded. Cached
 * answers wait for no permit, so that a node that hangs does not delay them.
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
      const answer = gateway.kept(path) ?? (await holdPermit(admitted.permits.node(signal), ask))
      // The request has ended, so nobody else would release the answer's bytes.
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
