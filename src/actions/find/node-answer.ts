import { HASH, STORED } from '#chain/bounds.ts'
import {
  expectObject,
  type JsonFields,
  type Path,
  parseAnswer,
  requireInt64,
  requireText,
  requireTexts,
} from '#chain/json-fields.ts'
import { catchKinds, Failure } from '#failure/failure.ts'
import { NO_SUCH_CALL, parseRefusal } from '#node/call.ts'
import type { ForwardedResponse, Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import type { Context } from '../define.ts'

export const OK = 200
/** The node's messages for an unknown block or transaction (go-iost rpc). */
const NOT_FOUND: ReadonlySet<string> = new Set(['tx not found', 'block not found'])

/** Maximum wait of a caller for a node's answer about something that is not stored. */
export const WITHIN_MS = 2_000

/**
 * Text of a node's answer; undefined when the node does not know the thing. Throws 'unavailable' for any
 * other answer, and when the node does not know it but is behind this store or another node, so that the
 * thing may exist. The height of a node is polled once a second and the store may be ahead of that, so the
 * height of a node that seems to be behind is refreshed, and the node asked again, before the caller is
 * refused. An archive in place of a node has no such look-ups (`requireArchiveStored`).
 */
export const askNode = (
  node: Node,
  path: string,
  { at, signal, waitForNode }: { readonly at: Published } & Pick<Context, 'signal' | 'waitForNode'>,
): Promise<string | undefined> =>
  waitForNode(async () => {
    const ask = () => node.get(path, { signal, withinMs: WITHIN_MS })
    let answer = await ask()
    if (parseRefusal(answer)?.code === NO_SUCH_CALL) {
      answer.release()
      return requireArchiveStored(node, at)
    }
    let text = findAnswerText(answer)
    if (text === undefined && !answer.reaches(at.height)) {
      await awaitLimited(answer.refreshHeight(at.height), { signal })
      if (answer.reaches(at.height)) {
        answer = await ask()
        text = findAnswerText(answer)
      }
    }
    if (text === undefined && !answer.reaches(at.height))
      throw new Failure(
        'unavailable',
        `The node does not know ${path}, but it is only at block ${node.lastInfo()?.headBlock ?? -1}, behind the known chain.`,
        { zh: '全节点的高度落后，暂时无法确认该区块或交易是否存在。' },
      )
    return text
  })

/**
 * An archive of blocks has no look-ups by hash and no pool. Once all of its blocks are stored, a thing that is
 * not stored is not in it. Throws 'loading' before that, and 'unavailable' while the archive cannot be read.
 */
function requireArchiveStored(node: Node, { height }: Published): undefined {
  const lib = node.lastInfo()?.libBlock
  if (lib === undefined)
    throw new Failure('unavailable', 'The archive of blocks cannot be read at the moment.', {
      zh: '区块归档暂时无法读取。',
    })
  if (lib <= height) return undefined
  throw new Failure('loading', `The archive has blocks that are not loaded yet: ${height} of ${lib}.`, {
    zh: `归档中的区块尚未全部加载：目前已加载到区块 ${height}，归档到区块 ${lib} 为止。`,
    details: { height, lib },
  })
}

/** The text of an answer; undefined: the node does not know the thing. */
function findAnswerText(answer: ForwardedResponse): string | undefined {
  const { status } = answer
  const text = new TextDecoder().decode(answer.body)
  // The same message with another status comes from a proxy, which may have lost its node.
  const refusal = parseRefusal(answer)
  answer.release()
  if (status === OK) return text
  if (refusal !== undefined && NOT_FOUND.has(refusal.message)) return undefined
  throw new Failure('unavailable', `The node returned status ${status} to a query for a block or transaction.`, {
    zh: `查询区块或交易时，全节点返回了状态码 ${status}。`,
  })
}

/** A key of a contract's storage; `field`: of the map under that key. */
type Place = { readonly contract: string; readonly key: string; readonly field?: string | undefined }

/** The irreversible block that an answer about storage reflects. */
type AsOf = { readonly height: number; readonly hash: string }

/** The storage of contracts as the followed node returns it. Throws 'unavailable', 'bad_block', 'deadline'. */
export type StorageReader = {
  /** A text, a number in digits, or `null`, which also stands for a missing value. The answer is not verified. */
  value(place: Place): Promise<AsOf & { readonly value: string }>
  /** The fields of the map under a key, the first 257 (go-iost vm/database, addField); []: there is no map. */
  fields(place: Omit<Place, 'field'>): Promise<AsOf & { readonly fields: readonly string[] }>
}

/** Reads storage from a node, waiting outside the queue of the store. */
export function storageReader({
  node,
  waitForNode,
  signal,
}: Pick<Context, 'waitForNode' | 'signal'> & { readonly node: Node }): StorageReader {
  // Without `by_longest_chain` a node uses the last irreversible block.
  const ask = (call: string, { contract, key, field }: Place): Promise<JsonFields> =>
    waitForNode(async () => {
      const body = JSON.stringify({ id: contract, key, field })
      const answer = await node.get(`/${call}`, { signal, withinMs: WITHIN_MS, body })
      const text = new TextDecoder().decode(answer.body)
      answer.release()
      if (answer.status !== OK)
        throw new Failure('unavailable', `The node refuses ${call}: it responds with status ${answer.status}.`, {
          zh: `全节点拒绝了 ${call}，状态码为 ${answer.status}。`,
        })
      return expectObject(parseAnswer(text, call), PATH)
    })
  return {
    value: async place => {
      const answer = await ask('getContractStorage', place)
      return { value: requireText(answer, 'data', PATH, STORED), ...parseStorageBlock(answer) }
    },
    fields: async place => {
      const answer = await ask('getContractStorageFields', place)
      return { fields: requireTexts(answer, 'fields', PATH), ...parseStorageBlock(answer) }
    },
  }
}

const PATH: Path = { key: 'storage' }

const parseStorageBlock = (answer: JsonFields): AsOf => ({
  height: Number(requireInt64(answer, 'block_number', PATH)),
  hash: requireText(answer, 'block_hash', PATH, HASH),
})

/** Milliseconds for which an answer of the node is shared by all requests: the chain makes a block every 500. */
const KEPT_MS = 500
/** A failure of the node is shared for longer, so that a node that is down does not slow down every request. */
const SILENCE_KEPT_MS = 5000
/** Maximum wait for data that an answer can do without. */
const TIMEOUT_MS = 300

type QueryContext = Pick<Context, 'node' | 'signal' | 'clock'>
type CachedQuery<T> = { readonly answer: Promise<T>; until: number }

/**
 * Shares a query to the node between requests: all callers get one answer while it is pending and for half a second
 * after. undefined: no node is followed, or none answers in time; the caller then answers from the store.
 */
export function shareQuery<T>(
  query: (node: Node) => Promise<T>,
  timeoutMs = TIMEOUT_MS,
): (context: QueryContext) => Promise<T | undefined> {
  const all = new WeakMap<Node, CachedQuery<T>>()
  const answerOf = (node: Node, { elapsed }: Clock): Promise<T> => {
    const known = all.get(node)
    if (known !== undefined && elapsed() < known.until) return known.answer
    const cached: CachedQuery<T> = { answer: query(node), until: Number.POSITIVE_INFINITY }
    all.set(node, cached)
    cached.answer.then(
      () => {
        cached.until = elapsed() + KEPT_MS
      },
      () => {
        cached.until = elapsed() + SILENCE_KEPT_MS
      },
    )
    return cached.answer
  }
  return async ({ node, signal, clock }) =>
    node === undefined ? undefined : ignoreUnreachable(awaitNodeAnswer(answerOf(node, clock), signal, timeoutMs))
}

/** Result of `work`; throws 'unavailable' after `timeoutMs`, or 'deadline' when the request's own time is over. */
const awaitNodeAnswer = <T>(work: Promise<T>, signal: AbortSignal, timeoutMs: number): Promise<T> =>
  awaitLimited(work, {
    signal,
    aborted: () => new Failure('deadline', 'The time limit of this request has expired.', { zh: '本次请求已超时。' }),
    ms: timeoutMs,
    late: () => new Failure('unavailable', `No node responded within ${timeoutMs} ms.`),
  })

/** The result of `query`, or undefined while no node answers: the answer then comes from the store alone. */
const ignoreUnreachable = <T>(query: Promise<T>): Promise<T | undefined> =>
  catchKinds(['unavailable', 'bad_block'], query)
