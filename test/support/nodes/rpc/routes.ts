import { Failure } from '#failure/failure.ts'
import { type Answer, refused } from './answer.ts'

type Shape = { readonly method: 'GET' | 'POST'; readonly values: number }

const shaped =
  (shape: Shape) =>
  (name: string): readonly [string, Shape] => [name, shape]
const get = (values: number) => shaped({ method: 'GET', values })
const post = shaped({ method: 'POST', values: 0 })

/** RPC calls of a node: method and number of path values. Other paths are answered `Not Implemented`. */
const CALLS: ReadonlyMap<string, Shape> = new Map([
  ...['getNodeInfo', 'getChainInfo', 'getRAMInfo', 'getGasRatio'].map(get(0)),
  ...['getTxByHash', 'getTxReceiptByTxHash'].map(get(1)),
  ...['getBlockByHash', 'getBlockByNumber', 'getRawBlockByNumber', 'getAccount', 'getContract'].map(get(2)),
  ...['getContractVote', 'getProducerVoteInfo', 'getVoterBonus', 'getCandidateBonus', 'getTokenInfo'].map(get(2)),
  ...['getTokenBalance', 'getToken721Balance', 'getToken721Metadata', 'getToken721Owner'].map(get(3)),
  ...['getBlockHeaderByRange', 'getBlockTxsByContract', 'getContractStorage', 'getBatchContractStorage'].map(post),
  ...['getContractStorageFields', 'listContractStorage', 'sendTx', 'execTx', 'subscribe'].map(post),
])

const NOT_IMPLEMENTED = refused(12, 'Not Implemented')

export type Call = { readonly method: string; readonly path: string; readonly body: string }

/** Handlers by the name of the call: GET calls get the values of the path, POST calls the body. */
export type NodeAnswers = {
  readonly [call: string]: ((...values: string[]) => Answer | Promise<Answer>) | undefined
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Routes a call as a node does. `otherwise` answers the calls of a node that are missing in `answers`. */
export async function answerCall(
  answers: NodeAnswers,
  call: Call,
  otherwise: (call: Call) => Answer | Promise<Answer>,
): Promise<Answer> {
  const [, name = '', ...values] = call.path.split('/').map(decoded)
  const known = CALLS.get(name)
  if (known === undefined || known.values !== values.length) return NOT_IMPLEMENTED
  if (known.method !== call.method) return refused(12, 'Method Not Allowed')
  const answer = answers[name]
  if (answer === undefined) return otherwise(call)
  return known.method === 'POST' ? answer(call.body) : answer(...values)
}

export type Address = {
  readonly host?: string
  /** 0: any free port. */
  readonly port?: number
}

/** Parses `HOST:PORT` of a command line. Throws Failure 'usage'. */
export function readAddress(text: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^([^:\s]+):([0-9]{1,5})$/.exec(text) ?? []
  if (host === undefined || port === undefined) throw new Failure('usage', `--listen ${text} is not HOST:PORT.`)
  return { host, port: Number(port) }
}

const toResponse = (method: string, { status, contentType, text }: Answer): Response =>
  new Response(method === 'HEAD' ? null : text, {
    status,
    headers: { 'content-type': contentType, 'access-control-allow-origin': '*' },
  })

const preflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers': 'Content-Type, Accept',
    },
  })

/** Serves calls over HTTP like a node. `fault`: an answer in place of the node's own. */
export function serveCalls(
  { host = '127.0.0.1', port = 0 }: Address,
  answer: (call: Call) => Answer | Promise<Answer>,
  fault?: (request: Request, call: Call, truth: () => Promise<string>) => Promise<Response | undefined>,
) {
  const server = Bun.serve({
    hostname: host,
    port,
    // A client that reads a block slowly is not disconnected.
    idleTimeout: 0,
    fetch: async request => {
      if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method')) return preflight()
      const body = request.method === 'POST' ? await request.text() : ''
      const call = { method: request.method, path: new URL(request.url).pathname, body }
      const wrong = await fault?.(request, call, async () => (await answer(call)).text)
      return wrong ?? toResponse(request.method, await answer(call))
    },
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    port: server.port ?? port,
    stop: () => server.stop(true),
  } as const
}
