import { Failure } from '#failure/failure.ts'
import { NO_SUCH_CALL, parseRefusal } from '#node/call.ts'
import type { ForwardedResponse, Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import { within } from '#time/deadline.ts'
import type { Context } from '../define.ts'

/** HTTP status 200. */
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
 * refused. An archive in place of a node has no such look-ups (`notInArchive`).
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
      return notInArchive(node, at)
    }
    let text = findAnswerText(answer)
    if (text === undefined && !answer.reaches(at.height)) {
      await within(answer.refreshHeight(at.height), { signal })
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
function notInArchive(node: Node, { height }: Published): undefined {
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
