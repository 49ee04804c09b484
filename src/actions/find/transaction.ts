import { toBaseTransaction } from '#chain/base-transaction.ts'
import { hash8 } from '#chain/hash.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { transactions } from '#indices/transaction.ts'
import type { Node } from '#node/port.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { markOffBranch, transactionOnBranch } from './branch.ts'
import type { FoundTransaction, TransactionPosition } from './found-transaction.ts'
import { transactionOfNode } from './node-transaction.ts'
import { sharedLookup } from './shared-lookups.ts'
import { unknown } from './unknown.ts'

/**
 * The transaction with a hash: from the store, otherwise from a block of the followed branch, otherwise from
 * the node: in an irreversible block beyond it, or in the pool. Throws 'not_found' or 'loading' when there is
 * none, and 'unavailable' when no node can be asked, because it may be in the pool.
 */
export async function findTransaction(context: Context, hash: string): Promise<FoundTransaction> {
  const found = (await findTransactions(context, [hash])).get(hash)
  if (found === undefined) throw unknown(context, 'transaction', hash)
  return found
}

/** Number of transactions requested from a node at once. */
const ASKED_AT_ONCE = 8

/**
 * The transactions with these hashes, found together. Hashes that are not found are missing from the result.
 * Throws 'unavailable' when a transaction is not stored and no node can be asked.
 */
export async function findTransactions(
  context: Context,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, FoundTransaction>> {
  const { view, node } = context
  const found = new Map(await stored(view, [...new Set(hashes)]))
  for (const hash of hashes) {
    const one = found.has(hash) ? undefined : transactionOnBranch(context, hash)
    if (one !== undefined) found.set(hash, one)
  }
  const others = [...new Set(hashes)].filter(hash => !found.has(hash))
  if (node === undefined || others.length === 0) return found
  // A call takes one slot in the queue for nodes, whatever the number of its requests; with several, a call
  // could be refused by its own requests.
  const asking: Context = { ...context, waitForNode: askFreely }
  await context.waitForNode(async () => {
    for (let at = 0; at < others.length; at += ASKED_AT_ONCE) {
      const ask = async (hash: string) => [hash, await atNode(asking, node, hash)] as const
      for (const [hash, one] of await Promise.all(others.slice(at, at + ASKED_AT_ONCE).map(ask)))
        if (one !== undefined) found.set(hash, markOffBranch(context, one))
    }
  })
  return found
}

/** A node's answer about a transaction; equal look-ups at one published height are shared. */
function atNode(context: Context, node: Node, hash: string): Promise<FoundTransaction | undefined> {
  const { view, clock, signal } = context
  const { at } = view
  return sharedLookup(`${hash} ${at.height} ${at.hash}`, { node, clock, signal }, () =>
    transactionOfNode(context, node, hash),
  )
}

const askFreely: Context['waitForNode'] = ask => ask()

async function stored(view: View, hashes: readonly string[]): Promise<ReadonlyMap<string, FoundTransaction>> {
  const found = new Map<string, FoundTransaction>()
  const wanted = new Set(hashes)
  const docs = await view.findAny(transactions, 'hash8', toHashKeys(hashes), some =>
    areHashesFound(
      hashes,
      some.map(({ hash }) => hash),
    ),
  )
  for (const { hash, height, tx, body } of docs)
    if (wanted.has(hash)) found.set(hash, irreversible(body, { height, tx }))
  const others = hashes.filter(hash => !found.has(hash))
  if (others.length === 0) return found
  const made = await view.findAny(blocks, 'base_hash8', toHashKeys(others), some =>
    areHashesFound(others, some.map(getBaseHash)),
  )
  for (const block of made) {
    const hash = getBaseHash(block)
    const body = wanted.has(hash) ? toBaseTransaction(block) : undefined
    if (body !== undefined) found.set(hash, irreversible(body, { height: block.height, tx: 0 }))
  }
  return found
}

/** The hash of a block's base transaction. */
const getBaseHash = ({ tx_hashes }: Pick<BlockDoc, 'tx_hashes'>): string => tx_hashes.split(' ', 1)[0] ?? ''

/** Whether all hashes are found: other hashes may have the same first bytes. */
function areHashesFound(hashes: readonly string[], found: readonly string[]): boolean {
  const there = new Set(found)
  return hashes.every(hash => there.has(hash))
}

/** The first bytes of hashes, without duplicates. */
const toHashKeys = (hashes: readonly string[]): readonly bigint[] => [...new Set(hashes.map(hash8))]

const irreversible = (body: string, place: TransactionPosition): FoundTransaction => ({
  status: 'IRREVERSIBLE',
  blockNumber: String(place.height),
  body,
  place,
})
