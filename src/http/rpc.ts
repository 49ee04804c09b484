import { holdPermit } from '#actions/answer.ts'
import { badRequest, findNearest, nearestText, quoteGiven } from '#actions/request/refusals.ts'
import { Failure, PublicFailure } from '#failure/failure.ts'
import { admit, type Gate, identify } from '#gate/gate.ts'
import { type Handler, refuseParameters } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { formatMethodTemplate, rpcMethods, rpcUnavailable } from './rpc-methods.ts'

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
      // An hour: disabled methods do not become available by themselves.
      details: { retryAfter: 3_600 },
    })
  const method = rpcMethods.find(known => known.name === name)
  if (method === undefined) throw unknownMethod(name)
  const template = formatMethodTemplate(method)
  if (segments.length !== method.segments.length)
    throw new Failure('not_found', `Method ${name} must be called as ${template}.`, {
      zh: `方法 ${name} 的调用格式为 ${template}。`,
    })
  for (const [place, segment] of method.segments.entries()) {
    const text = segments[place] ?? ''
    if (!segment.pattern.test(text))
      throw badRequest(
        {
          en: `Segment '${segment.name}' of ${template} is ${quoteGiven(text)}; it must be ${segment.rule.en}.`,
          zh: `${template} 的路径段 '${segment.name}' 的值为 ${quoteGiven(text)}；取值须为：${segment.rule.zh}。`,
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
  const near = nearestText(findNearest(name, names))
  return new Failure('not_found', `Unknown method ${quoteGiven(name)}${near.en}`, {
    zh: `未知方法 ${quoteGiven(name)}${near.zh}`,
  })
}

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
          // Only a restart helps.
          details: { retryAfter: 60 },
        })
      const ask = () => gateway.ask(path, signal)
      const answer = gateway.kept(path) ?? (await holdPermit(admitted.permits.node(signal), ask))
      // The request has ended, so nobody else would release the answer's bytes.
      if (signal.aborted) answer.release()
      const isJson = answer.contentType?.startsWith('application/json') === true
      // A node may return a page of its own, which must not run as one of this service, where visitors type their keys.
      const policy = "default-src 'none'; sandbox"
      return {
        status: answer.status,
        type: isJson ? 'application/json' : 'text/plain; charset=utf-8',
        body: answer.body,
        headers: { 'Cache-Control': 'no-store', 'Content-Security-Policy': policy },
        form: 'raw',
        sent: answer.release,
      }
    } catch (error) {
      admitted.refused(error)
      throw error
    }
  }
