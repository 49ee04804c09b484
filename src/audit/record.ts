import { decodeTransaction } from '#chain/decode-transaction.ts'
import { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/position.ts'
import { transactions } from '#indices/transaction.ts'
import type { Audit, Identity, Published } from '#store/port.ts'
import type { Finding } from './finding.ts'

/**
 * No chain makes blocks so fast, and no node is so far ahead of what is loaded: a last irreversible block beyond is
 * nonsense. A second has two blocks (chain/iost 1.1).
 */
const FASTEST = { perSecond: 100, beside: 1_000_000 }

const isAbsurd = ({ height, time, lib }: Published, nowMs: number): boolean =>
  lib < height ||
  lib >
    height + FASTEST.beside + FASTEST.perSecond * Math.max(0, nowMs / 1_000 - Number(time / 1_000_000_000n))

/** What the store says of itself against the blocks: where it ends, and which chain it is. */
export const compareRecord = async (
  { at: stored }: Pick<Audit, 'at'>,
  expected: Audit,
  identity: Identity,
  { found, nowMs }: { readonly found: (finding: Finding) => void; readonly nowMs: number },
): Promise<void> => {
  const tell = (index: string, id: string, field: string, is: unknown, wanted: unknown): void => {
    if (is !== wanted) found({ index, id, field, stored: String(is), expected: String(wanted), by: 'replay' })
  }
  const id = String(stored.height)
  tell('published', id, 'hash', stored.hash, expected.at.hash)
  tell('published', id, 'time', stored.time, expected.at.time)
  if (isAbsurd(stored, nowMs)) tell('published', id, 'lib', stored.lib, `${stored.height} or a little more`)
  const [genesis] = await expected.getMany(blocks, [blockId(0)])
  tell('identity', 'genesis', 'hash', identity.genesis, genesis?.hash)
  const [first] = await expected.getMany(transactions, [transactionId(0, 0)])
  // Every transaction says its chain.
  if (first !== undefined)
    tell('identity', 'genesis', 'chain_id', identity.chainId, decodeTransaction(first.body).chainId)
}
