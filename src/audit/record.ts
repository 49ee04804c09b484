import { decodeTransaction } from '#chain/decode-transaction.ts'
import { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/position.ts'
import { transactions } from '#indices/transaction.ts'
import type { Audit, Identity, Published } from '#store/port.ts'
import type { SettledEnd } from '#store/restored.ts'
import type { Finding } from './finding.ts'

/**
 * Limits of a plausible last irreversible block: no chain produces blocks so fast, and no node is so far
 * ahead of the loaded blocks. IOST produces two blocks per second (chain/iost 1.1).
 */
const FASTEST = { perSecond: 100, beside: 1_000_000 }

export const isAbsurd = ({ height, time, lib }: Published, nowMs: number): boolean =>
  lib < height ||
  lib > height + FASTEST.beside + FASTEST.perSecond * Math.max(0, nowMs / 1_000 - Number(time / 1_000_000_000n))

/** The stored data, the same height derived again, and the chain named by the store. */
type Recorded = {
  readonly stored: Pick<Audit, 'at'>
  readonly expected: Audit
  readonly identity: Identity
}

/**
 * Compares the store's record of its end and chain with the blocks. Returns the correct record, or undefined
 * when the stored one is correct.
 */
export async function compareRecord(
  { stored: { at: stored }, expected, identity }: Recorded,
  { found, nowMs }: { readonly found: (finding: Finding) => void; readonly nowMs: number },
): Promise<Omit<SettledEnd, 'open'> | undefined> {
  let isRight = true
  const tell = (place: Pick<Finding, 'index' | 'id' | 'field'>, is: unknown, wanted: unknown): void => {
    if (is === wanted) return
    isRight = false
    found({ ...place, stored: String(is), expected: String(wanted), by: 'replay' })
  }
  const { height, hash, time } = expected.at
  const published = { index: 'published', id: String(stored.height) }
  const genesisBlock = { index: 'identity', id: 'genesis' }
  tell({ ...published, field: 'hash' }, stored.hash, hash)
  tell({ ...published, field: 'time' }, stored.time, time)
  const lib = isAbsurd({ height, hash, time, lib: stored.lib }, nowMs) ? height : stored.lib
  if (lib !== stored.lib) tell({ ...published, field: 'lib' }, stored.lib, `${height} or a little more`)
  const genesis = (await expected.getMany(blocks, [blockId(0)]))[0]?.hash ?? identity.genesis
  tell({ ...genesisBlock, field: 'hash' }, identity.genesis, genesis)
  const [first] = await expected.getMany(transactions, [transactionId(0, 0)])
  // Every transaction contains its chain id.
  const chainId = first === undefined ? identity.chainId : decodeTransaction(first.body).chainId
  tell({ ...genesisBlock, field: 'chain_id' }, identity.chainId, chainId)
  return isRight
    ? undefined
    : { identity: { ...identity, genesis, chainId }, end: { ...stored, height, hash, time, lib } }
}
