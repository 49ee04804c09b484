import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'

const OK = 200
/** The node's words for what it does not know (chain/iost.md 2.1); it answers them with status 400. */
const NOT_FOUND = /"message":\s*"(?:tx|block) not found"/

/** Text of a node's answer; undefined when the node does not know the thing. Throws 'unavailable' for anything else. */
export const askNode = async (
  node: Node,
  path: string,
  signal?: AbortSignal,
): Promise<string | undefined> => {
  const { status, body } = await node.get(path, signal)
  const text = new TextDecoder().decode(body)
  if (status === OK) return text
  if (NOT_FOUND.test(text)) return undefined
  throw new Failure(
    'unavailable',
    `The node answered ${status} where a block or transaction was asked for.`,
    {
      zh: `查询区块或交易时节点返回了 ${status}。`,
    },
  )
}

/** `ask`, or undefined while no node answers: what is stored then stands alone. */
export const whenReachable = async <T>(ask: Promise<T>): Promise<T | undefined> => {
  try {
    return await ask
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'bad_block'))
      return undefined
    throw error
  }
}
