import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { Context } from '../define.ts'

/** HTTP. */
export const OK = 200
/** The node's words for what it does not know; it answers them with status 400. */
const NOT_FOUND = /"message":\s*"(?:tx|block) not found"/

/** No caller waits longer for a node that may know what is not stored. */
export const WITHIN_MS = 2_000

/**
 * Text of a node's answer; undefined when the node does not know the thing. Throws 'unavailable' for anything else, and
 * when the node that does not know it is behind this store or another node: the thing may well exist.
 */
export const askNode = async (
  node: Node,
  path: string,
  { at, signal, apart }: { readonly at: Published } & Pick<Context, 'signal' | 'apart'>,
): Promise<string | undefined> => {
  const { status, body, upToDate, release } = await apart(() =>
    node.get(path, { signal, withinMs: WITHIN_MS }),
  )
  const text = new TextDecoder().decode(body)
  release()
  if (status === OK) return text
  if (!NOT_FOUND.test(text))
    throw new Failure(
      'unavailable',
      `The node returned status ${status} to a query for a block or transaction.`,
      { zh: `查询区块或交易时，全节点返回了状态码 ${status}。` },
    )
  const { headBlock = -1 } = node.heard() ?? {}
  if (!upToDate || headBlock < at.height)
    throw new Failure(
      'unavailable',
      `The node does not know ${path}, but it is only at block ${headBlock}, behind the known chain.`,
      { zh: '全节点的高度落后，暂时无法确认该区块或交易是否存在。' },
    )
  return undefined
}
