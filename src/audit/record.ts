import { decodeTransaction } from '#chain/decode-transaction.ts'
import { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/position.ts'
import { transactions } from '#indices/transaction.ts'
import type { Audit, Identity, Published } from '#store/port.ts'
import type { Settled } from '#store/restored.ts'
import type { Finding } from './finding.ts'

/**
 * No chain makes blocks so fast, and no node is so far ahead of what is loaded: a last irreversible block beyond is
 * nonsense. A second has two blocks (chain/iost 1.1).
 */
const FASTEST = { perSecond: 100, beside: 1_000_000 }

export const isAbsurd = ({ height, time, lib }: Published, nowMs: number): boolean =>
  lib < height ||
  lib >
    height + FASTEST.beside + FASTEST.perSecond * Math.max(0, nowMs / 1_000 - Number(time / 1_000_000_000n))

/**
 * What the store says of itself against the blocks: where it ends, and which chain it is. Gives what it should say;
 * undefined: it says that.
 */
export const compareRecord = async (
  { at: stored }: Pick<Audit, 'at'>,
  expected: Audit,
  identity: Identity,
  { found, nowMs }: { readonly found: (finding: Finding) => void; readonly nowMs: number },
): Promise<Omit<Settled, 'open'> | undefined> => {
  let isRight = true
  const tell = (index: string, id: string, field: string, is: unknown, wanted: unknown): void => {
    if (is === wanted) return
    isRight = false
    found({ index, id, field, stored: String(is), expected: String(wanted), by: 'replay' })
  }
  const { height, hash, time } = expected.at
  const id = String(stored.height)
  tell('published', id, 'hash', stored.hash, hash)
  tell('published', id, 'time', stored.time, time)
  const lib = isAbsurd({ height, hash, time, lib: stored.lib }, nowMs) ? height : stored.lib
  if (lib !== stored.lib) tell('published', id, 'lib', stored.lib, `${height} or a little more`)
  const genesis = (await expected.getMany(blocks, [blockId(0)]))[0]?.hash ?? identity.genesis
  tell('identity', 'genesis', 'hash', identity.genesis, genesis)
  const [first] = await expected.getMany(transactions, [transactionId(0, 0)])
  // Every transaction says its chain.
  const chainId = first === undefined ? identity.chainId : decodeTransaction(first.body).chainId
  tell('identity', 'genesis', 'chain_id', identity.chainId, chainId)
  return isRight
    ? undefined
    : { identity: { ...identity, genesis, chainId }, end: { ...stored, height, hash, time, lib } }
}
