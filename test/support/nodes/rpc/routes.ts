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
