import { Failure } from '#failure/failure.ts'
import type { Context, Text } from './define.ts'

/** Blocks a load may be behind before "not found" can no longer be said (decisions: 1,000). */
export const BEHIND = 1000

/**
 * The failure for a thing that is not stored: 'not_found', or 'loading' while the load is so far behind the node's
 * last irreversible block that the thing may well exist.
 * @param what the thing with its name, as the beginning of a sentence: `Account 'alice00'`.
 */
export const absent = ({ view, node }: Pick<Context, 'view' | 'node'>, what: Text): Failure => {
  const { at } = view
  const last = Math.max(at.lib, node?.heard()?.libBlock ?? 0)
  const details = { height: at.height, lib: last }
  if (last - at.height > BEHIND)
    return new Failure(
      'loading',
      `${what.en} is not known yet: loaded up to block ${at.height} of ${last}.`,
      { zh: `${what.zh} 暂未找到：已加载到区块 ${at.height}，共 ${last}。`, details },
    )
  return new Failure('not_found', `${what.en} is not known at block ${at.height}.`, {
    zh: `${what.zh} 在区块 ${at.height} 处不存在。`,
    details,
  })
}
