import { PARENT_HASH } from '#chain/check.ts'
import { Failure } from '#failure/failure.ts'
import type { ChainInfo, Unfit } from '#node/chain-info.ts'
import { judge, lacksText, unfitHelp, unfitText } from '#node/judge.ts'
import type { BlockSource } from '#node/port.ts'
import type { Identity, Published, Store } from '#store/port.ts'
import { storedBlocks } from '#store/stored-blocks.ts'
import { DivergedEnd } from './retry.ts'

/** The store at the start of a session; without a checkpoint it has no block yet. */
type Stored = {
  readonly checkpoint: Published | undefined
  readonly store: Store
  readonly identity: Identity
}

/** Requires the checkpoint's block to be the node's, for one chain per store. Throws 'unavailable', or `DivergedEnd`. */
export async function requireSameChain(
  { checkpoint, store, identity }: Stored,
  { node, info }: { readonly node: BlockSource; readonly info: ChainInfo },
  signal: AbortSignal,
): Promise<void> {
  if (checkpoint === undefined) return
  const verdict = await judge(
    // The store would have refused the lock if the first block were a different one.
    {
      ...info,
      blockHash: async height => (height === 0 ? identity.genesis : await node.blockHash(height, signal)),
    },
    { identity, last: checkpoint, hashAt: storedBlocks(store, signal).hashAt },
  )
  if (verdict.is === 'behind')
    // The node is still syncing, or was restarted: the load waits for it rather than go back.
    throw new Failure(
      'unavailable',
      `The node's last irreversible block ${info.libBlock} is below the loaded height ${checkpoint.height}.`,
    )
  if (verdict.is === 'lacks')
    // The node's reported last irreversible block is not true.
    throw new Failure('unavailable', `${lacksText(verdict, 'the node')}.`)
  if (verdict.is !== 'fit') throw otherEnd(verdict, node)
}

const otherEnd = (unfit: Unfit, { name }: BlockSource): DivergedEnd =>
  new DivergedEnd('conflict', `${unfitText(unfit, 'the node')}.`, {
    help: `The stored blocks differ from the node's. ${unfitHelp(unfit, name)}`,
  })

/**
 * The reason why a session failed. A block may fail because the last stored one, which no block had named
 * yet, is not the chain's.
 */
export async function findFailureReason(
  failed: unknown,
  checkpoint: Published | undefined,
  { node, signal }: { readonly node: BlockSource; readonly signal: AbortSignal },
): Promise<unknown> {
  if (!(failed instanceof Failure) || failed.kind !== 'bad_block' || checkpoint === undefined) return failed
  const { height, hash: stored } = checkpoint
  const there = await node.blockHash(height, signal).catch(() => undefined)
  if (there !== undefined && there !== stored) return otherEnd({ is: 'apart', height, stored, there }, node)
  const { rule, height: at } = failed.details
  if (rule !== PARENT_HASH || at !== height + 1) return failed
  return new Failure('bad_block', failed.message, {
    cause: failed,
    details: failed.details,
    help: `The node's next block does not follow the last stored one. Use another node. If that one has another block ${height}, run 'iostlens repair' with it.`,
  })
}
