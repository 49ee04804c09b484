import type { Asking } from './call.ts'
import { FAR, infoOf } from './look-at.ts'
import type { Member } from './pool.ts'

/**
 * Looks where a node stands now, beside the regular looks. All who wait for a look at a node share one; who comes while one
 * is under way, and does not learn enough of it, shares the next. Never throws: what was known stays where the node does
 * not answer, or says what only a probe may believe.
 */
export type LookAgain = (member: Member, isEnough: () => boolean) => Promise<void>

export const looksAgain = (asking: Asking): LookAgain => {
  const underWay = new Map<Member, Promise<void>>()
  const begin = (member: Member): Promise<void> => {
    const look = lookOnce(asking, member).finally(() => underWay.delete(member))
    underWay.set(member, look)
    return look
  }
  return async (member, isEnough) => {
    const begun = underWay.get(member)
    await begun
    if (begun !== undefined && isEnough()) return
    await (underWay.get(member) ?? begin(member))
  }
}

const lookOnce = async (asking: Asking, member: Member): Promise<void> => {
  // The node's end rejects; there is nothing to learn then.
  const info = await infoOf(asking, member).catch(() => 'closed')
  const known = member.heard?.info
  if (typeof info === 'string' || known === undefined || info.chainId !== known.chainId) return
  const { libBlock: lib, headBlock: head } = info
  const isNear =
    lib <= head && Math.abs(head - known.headBlock) <= FAR && Math.abs(lib - known.libBlock) <= FAR
  if (isNear) asking.pool.stands(member, info)
}
