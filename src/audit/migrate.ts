import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { load } from '#load/load.ts'
import type { LoadOptions } from '#load/session.ts'
import type { BlockSource, Node } from '#node/port.ts'
import { nothingLoaded } from '#store/failures.ts'
import type { Identity, Published, Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { type AuditOptions, type AuditResult, audit } from './audit.ts'
import { type AuditSource, streamStoredBlocks } from './source.ts'

/**
 * A node that serves the stored blocks up to a published height. Each block is checked by its parent, its
 * merkle roots and its own hash.
 */
const createStoredNode = (
  source: Pick<AuditSource, 'store' | 'signal'>,
  { chainId }: Identity,
  at: Published,
): BlockSource => ({
  name: 'the stored blocks',
  chainInfo: async () => ({
    chainId,
    netName: '',
    headBlock: at.height,
    headHash: at.hash,
    headTime: at.time,
    libBlock: at.height,
    libHash: at.hash,
    libTime: at.time,
  }),
  blockHash: async height => {
    const doc = await source.store.read(view => view.get(blocks, blockId(height)), { damaged: true })
    return doc?.hash
  },
  blocks: async function* ({ from, to, parent }) {
    try {
      yield* streamStoredBlocks(source, { from, to, parent })
    } catch (error) {
      // 'defect' comes from tables of another version, which this one cannot read.
      if (!(error instanceof Failure) || (error.kind !== 'bad_block' && error.kind !== 'defect')) throw error
      throw new Failure('bad_block', error.message, {
        help: 'The stored blocks are damaged, so nothing can be derived from them. Set a node with --node.',
      })
    }
  },
})

type DeriveParts = {
  readonly store: Store
  /** Source of the blocks; absent: the stored ones. */
  readonly node?: Node | undefined
  /** An empty store for the audit. */
  readonly scratch: Store
  readonly clock: Clock
}

type DeriveOptions = {
  readonly load: Pick<LoadOptions, 'signal' | 'onProgress' | 'log'>
  readonly audit: AuditOptions
  /** Whether the derived data may replace the served data. */
  readonly isWhole: (audited: AuditResult) => boolean
}

/**
 * Derives everything again beside the served data, audits the result and replaces the served data with it. A
 * loader may run until then; the blocks that it adds in the meantime are derived at the end. After a kill at
 * any moment, the next run continues. Resolves with false when the result is not whole and replaces nothing.
 */
export async function migrateByDeriving(parts: DeriveParts, options: DeriveOptions): Promise<boolean> {
  const { store, node, scratch, clock } = parts
  const beside = await store.migrating.beside()
  try {
    await beside.create()
    await loadNewData(parts, beside, options)
    const audited = await audit({ store: beside, scratch, clock, node }, options.audit)
    if (!options.isWhole(audited)) return false
    await store.migrating.swap(async height => {
      if (((await beside.published())?.height ?? -1) < height) await loadNewData(parts, beside, options)
    })
    return true
  } finally {
    await beside.close()
  }
}

/** Loads the new data up to the end of the served data, or further if a node has more. */
async function loadNewData(
  { store, node, clock }: DeriveParts,
  beside: Store,
  { load: options }: DeriveOptions,
): Promise<void> {
  const { source } = store.migrating
  const [identity, at] = [await source.identity(), await source.published()]
  if (identity === undefined || at === undefined) throw nothingLoaded(store.name)
  const from = node ?? createStoredNode({ store: source, signal: options.signal }, identity, at)
  const recorded = node === undefined && at.proved !== undefined ? { recorded: at.proved } : {}
  const { height } = await load({ node: from, store: beside }, { ...options, ...recorded, clock, once: true })
  if (options.signal.aborted) throw new Failure('deadline', 'Stopped before everything was derived.')
  if (height < at.height)
    throw new Failure(
      'unavailable',
      `${from.name} ends at block ${height}, but the served data ends at block ${at.height}.`,
    )
}
