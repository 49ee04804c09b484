import { type Answer, refused } from './answer.ts'
import { parseBool } from './go-values.ts'
import type { RecordedCall, Recording } from './recording.ts'
import type { ReplayNode } from './replay-node.ts'

type Shape = { readonly method: 'GET' | 'POST'; readonly values: number }

const shaped =
  (shape: Shape) =>
  (name: string): readonly [string, Shape] => [name, shape]
const get = (values: number) => shaped({ method: 'GET', values })
const post = shaped({ method: 'POST', values: 0 })

/** Calls of a node: method and number of values in the path. Other paths are `Not Implemented`. */
const CALLS: ReadonlyMap<string, Shape> = new Map([
  ...['getNodeInfo', 'getChainInfo', 'getRAMInfo', 'getGasRatio'].map(get(0)),
  ...['getTxByHash', 'getTxReceiptByTxHash'].map(get(1)),
  ...['getBlockByHash', 'getBlockByNumber', 'getRawBlockByNumber', 'getAccount', 'getContract'].map(get(2)),
  ...['getContractVote', 'getProducerVoteInfo', 'getVoterBonus', 'getCandidateBonus', 'getTokenInfo'].map(
    get(2),
  ),
  ...['getTokenBalance', 'getToken721Balance', 'getToken721Metadata', 'getToken721Owner'].map(get(3)),
  ...['getBlockHeaderByRange', 'getBlockTxsByContract', 'getContractStorage', 'getBatchContractStorage'].map(
    post,
  ),
  ...['getContractStorageFields', 'listContractStorage', 'sendTx', 'execTx', 'subscribe'].map(post),
])

const NOT_IMPLEMENTED = refused(12, 'Not Implemented')

export type Call = { readonly method: string; readonly path: string; readonly body: string }

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/**
 * Answers a call as the recorded node would: from the blocks what they tell, else as it was recorded. Recorded state is
 * that of the last height, whatever height is replayed. What was never recorded is refused with code 2.
 */
export const answerCall = async (node: ReplayNode, recording: Recording, call: Call): Promise<Answer> => {
  const [, name = '', ...values] = call.path.split('/').map(decoded)
  const known = CALLS.get(name)
  if (known === undefined || known.values !== values.length) return NOT_IMPLEMENTED
  if (known.method !== call.method) return refused(12, 'Method Not Allowed')
  const [first = '', second = ''] = values
  switch (name) {
    case 'getChainInfo':
      return node.chainInfo()
    case 'getBlockByNumber':
      return node.blockByNumber(first, second)
    case 'getBlockByHash':
      return node.blockByHash(first, second)
    case 'getTxByHash':
      return node.transactionByHash(first)
    case 'getTxReceiptByTxHash':
      return node.receiptByHash(first)
    case 'getBlockHeaderByRange':
      return node.headersByRange(call.body)
    case 'getBlockTxsByContract':
      return node.transactionsByContract(call.body)
    default:
      return recordedAnswer(await callIndex(recording), call)
  }
}

const indices = new WeakMap<Recording, Promise<ReadonlyMap<string, RecordedCall>>>()

const keyOf = (method: string, path: string, body: string): string => `${method} ${path} ${body}`

const callIndex = (recording: Recording): Promise<ReadonlyMap<string, RecordedCall>> => {
  const known = indices.get(recording)
  if (known !== undefined) return known
  const made = recording
    .calls()
    .then(calls => new Map(calls.map(call => [keyOf(call.method, call.path, call.body ?? ''), call])))
  indices.set(recording, made)
  return made
}

const bothSides = (body: string): readonly string[] =>
  [body, body.replace('"by_longest_chain":false', '"by_longest_chain":true')].filter(
    (each, at, all) => all.indexOf(each) === at,
  )

/** Head and last irreversible block are one here, so an answer recorded for either is that for both. */
const recordedAnswer = (index: ReadonlyMap<string, RecordedCall>, { method, path, body }: Call): Answer => {
  const end = path.lastIndexOf('/')
  const side = parseBool('by_longest_chain', path.slice(end + 1))
  const paths =
    typeof side === 'boolean' ? [path, ...[side, !side].map(at => `${path.slice(0, end)}/${at}`)] : [path]
  for (const candidate of paths)
    for (const asked of bothSides(body)) {
      const call = index.get(keyOf(method, candidate, asked))
      if (call !== undefined) return { status: call.status, contentType: call.content_type, text: call.text }
    }
  return refused(2, 'not recorded')
}
