import type { ProofLevel } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { DERIVATION } from '#indices/registry.ts'
import { type Collect, createBatches, createCollector, type Partitioning } from '#load/batches.ts'
import { openDeriver } from '#load/deriver.ts'
import { fill, stageTimer } from '#load/fill.ts'
import { PROVED_BEFORE } from '#load/proving.ts'
import { NO_SUCH_CALL, RefusedCall } from '#node/call.ts'
import type { Node } from '#node/port.ts'
import { NOTHING_FILLED, ONE_PARTITION } from '#store/batch.ts'
import { nothingLoaded } from '#store/failures.ts'
import { OTHER_DERIVATION } from '#store/identity.ts'
import type { Audit, Identity, Published, Store, Writer } from '#store/port.ts'
import { recordedLevel } from '#store/published.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { compareDocuments, compareRecord, type Finding } from './compare.ts'
import { compareNodeState, OtherHeight } from './node-state.ts'
import { type AuditSource, BadNodeBlock, requireSameChain, streamDamagedBlocks, streamStoredBlocks } from './source.ts'

/** Whether a height is one of `count` spread evenly over 0 … `last`. The last height always is, unless `count` is 0. */
export const spread =
  (last: number, count: number): ((height: number) => boolean) =>
  height => {
    if (count === 0) return false
    const share = (at: number): number => Math.floor((at * count) / (last + 1))
    return height === last || share(height) !== share(height - 1)
  }

/** What the steps of an audit need. */
type AuditRun = {
  readonly parts: AuditParts
  readonly options: Required<AuditOptions>
  readonly source: AuditSource
  /** The chain that the audited store names, and its end when the audit begins. */
  readonly identity: Identity
  readonly published: Published
}

/**
 * The temporary store, filled from the blocks of the source. Lists record the partitions of the audited store in which
 * their rows begin.
 */
async function openScratch({ parts, options, source, identity }: AuditRun) {
  const { scratch: store, store: audited } = parts
  await store.create()
  const writer = await store.takeOver(identity)
  const partitions = createAuditedPartitioning(writer)
  const deriver = openDeriver({ writer, stored: await writer.openState(), partition: partitions.next })
  const stages = { deriver, proof: PROVED_BEFORE, clock: systemClock, time: stageTimer(systemClock) }
  let of = 0
  const batches = createBatches(
    { ...stages, writer, partitions, bounds: writer.bounds, collect: options.collect },
    ({ end }) => options.onProgress({ stage: 'blocks', done: end.height + 1, of }),
  )
  return {
    /** Derives the stored blocks up to `at`. Resolves with the failure that prevented it, or undefined. */
    derive: async (at: Published): Promise<Failure | undefined> => {
      of = at.height + 1
      try {
        partitions.follow((await audited.partitions?.firsts()) ?? ONE_PARTITION)
        const { checkpoint } = writer
        const range = { from: (checkpoint?.height ?? -1) + 1, to: at.height, parent: checkpoint?.hash }
        await fill({ ...stages, batches }, streamStoredBlocks(source, range), { lib: at.lib, signal: source.signal })
        source.signal.throwIfAborted()
        return undefined
      } catch (error) {
        if (error instanceof Failure && (error.kind === 'bad_block' || error.kind === 'defect')) return error
        throw error
      }
    },
    close: async (): Promise<void> => {
      await batches.settle().catch(() => undefined)
      await writer.release()
    },
  }
}

/** Lists name the partitions of the audited store; the scratch store itself has only one. */
function createAuditedPartitioning(writer: Writer): Partitioning & { follow(firsts: readonly number[]): void } {
  let firsts = ONE_PARTITION
  let next = (writer.checkpoint?.height ?? -1) + 1
  return {
    follow: known => {
      firsts = known
    },
    next: () => firsts.findLastIndex(first => first <= next),
    add: ({ block }) => {
      next = block.height + 1
    },
    full: () => false,
    filling: () => writer.partitions?.filling ?? NOTHING_FILLED,
  }
}

export type AuditParts = {
  readonly store: Store
  /** An empty store, into which everything is derived. */
  readonly scratch: Store
  /** Supplies a sample and the blocks that are wrong in the store. Its storage is compared too. */
  readonly node?: Node | undefined
  /** Proof required of the node's blocks; absent: for each block, the level recorded when it was loaded. */
  readonly prove?: ProofLevel | undefined
  /** Corrects differences; absent: nothing is written. */
  readonly writer?: Pick<Writer, 'rewrite' | 'settle'>
  readonly clock: Pick<Clock, 'now'>
}

export type AuditOptions = {
  /** Number of blocks compared with the node's, evenly spread. */
  readonly sample: number
  readonly signal: AbortSignal
  readonly onFinding: (finding: Finding) => void
  /** `stage` names the data being checked. */
  readonly onProgress: (looked: { readonly stage: string; readonly done: number; readonly of?: number }) => void
  /** Collects garbage between documents; absent: a collector that keeps memory use flat. */
  readonly collect?: Collect
}

export type AuditResult = {
  readonly at: Published
  /** Parts that could not be checked, with the reasons. */
  readonly notes: readonly string[]
  /** False: the state could not be derived from the stored blocks; only blocks and transactions were checked. */
  readonly complete: boolean
}

/** Number of blocks by which a loader may advance while the last ones are derived. */
const NEAR = 5_000

/**
 * Derives everything again from the stored blocks and transactions, each checked like one from a node.
 * Compares every document and every row at one published height. Memory use is bounded; the scratch store
 * takes about as much space as the embedded store of the same chain.
 */
export async function audit(parts: AuditParts, given: AuditOptions): Promise<AuditResult> {
  const options = { collect: createCollector(), ...given }
  const { store, node } = parts
  const identity = await store.identity()
  const published = await store.published()
  if (identity === undefined || published === undefined) throw nothingLoaded(store.name)
  if (identity.derivation !== DERIVATION)
    throw new Failure(
      'conflict',
      `${store.name} was derived by derivation version ${identity.derivation}; this program has version ${DERIVATION}.`,
      { help: OTHER_DERIVATION },
    )
  const lib = node === undefined ? undefined : await requireSameChain(node, { identity, published }, options.signal)
  const sampled = spread(published.height, node === undefined ? 0 : options.sample)
  const unproved = new Set<number>()
  const onUnproved = (height: number): void => {
    unproved.add(height)
  }
  const levelAt = (height: number): ProofLevel => parts.prove ?? recordedLevel(published, height)
  const source: AuditSource = { store, node, lib, levelAt, sampled, signal: options.signal, onUnproved }
  const run: AuditRun = { parts, options, source, identity, published }
  const scratch = await openScratch(run)
  try {
    const audited = await runAudit(run, scratch)
    const [first] = unproved
    if (first === undefined) return audited
    const note = `Receipts of ${unproved.size} blocks (the first is ${first}) lost bytes in the node's JSON; the stored receipts cannot be proved without a node. Set --node.`
    return { ...audited, notes: [...audited.notes, note] }
  } finally {
    await scratch.close()
  }
}

async function runAudit(run: AuditRun, scratch: Awaited<ReturnType<typeof openScratch>>): Promise<AuditResult> {
  const { store } = run.parts
  for (let at = run.published; ; at = (await store.published()) ?? at) {
    const failed = await scratch.derive(at)
    if (failed !== undefined) return await reportDamage(run, at, failed)
    if (((await store.published())?.height ?? 0) - at.height < NEAR) break
  }
  const stored = await store.audit()
  try {
    const failed = await scratch.derive(stored.at)
    if (failed !== undefined) return await reportDamage(run, stored.at, failed)
    await compareAll(run, stored)
    return { at: stored.at, notes: await compareWithNode(run, stored), complete: true }
  } finally {
    await stored.close()
  }
}

/** Reports every block from which deriving is impossible. */
async function reportDamage({ source, options }: AuditRun, at: Published, failed: Failure): Promise<AuditResult> {
  const expected = 'a block that follows its parent'
  const tell = (id: string, stored: string): void =>
    options.onFinding({ index: blocks.name, id, field: 'document', stored, expected, by: 'replay' })
  let count = 0
  for await (const { height, reason } of streamDamagedBlocks(source, at.height)) {
    tell(blockId(height), reason)
    count += 1
  }
  if (count === 0 && failed instanceof BadNodeBlock) throw failed
  if (count === 0) tell('all', failed.message)
  const help =
    source.node === undefined
      ? 'set a node with --node, whose blocks then replace the damaged ones.'
      : 'raise --sample, so that more blocks are read from the node.'
  return {
    at,
    complete: false,
    notes: [`The stored blocks are damaged, so state and rows could not be compared; ${help}`],
  }
}

async function compareAll({ parts, options, identity }: AuditRun, stored: Audit): Promise<void> {
  const { scratch, writer, clock } = parts
  const { onFinding } = options
  const expected = await scratch.audit()
  try {
    await compareDocuments({ stored, expected, scratch, writer, found: onFinding }, stage =>
      createCounter(stage, options),
    )
    const truth = await compareRecord({ stored, expected, identity }, { found: onFinding, nowMs: clock.now() })
    if (truth !== undefined) await writer?.settle({ ...truth, open: true })
  } finally {
    await expected.close()
  }
}

/** Reports progress, keeps memory use flat, and throws when `signal` aborts. */
function createCounter(
  stage: string,
  { onProgress, signal, collect }: Required<AuditOptions>,
): (count: number) => void {
  let done = 0
  return count => {
    signal.throwIfAborted()
    collect(count)
    done += count
    onProgress({ stage, done })
  }
}

/** Compares with the node's storage; documents corrected in the meantime are read again. Returns why it could not. */
async function compareWithNode({ parts, options }: AuditRun, stored: Audit): Promise<readonly string[]> {
  const { store, writer, node } = parts
  if (node === undefined) return []
  const { onFinding: found, signal } = options
  const isWritten = writer !== undefined
  const now = isWritten ? await store.audit() : stored
  try {
    await compareNodeState(stage => ({ node, stored: now, found, onProgress: createCounter(stage, options), signal }))
    return []
  } catch (error) {
    const rest = 'so balances, votes and accounts were not compared.'
    if (error instanceof OtherHeight)
      return [
        `The node returns the state of block ${error.height} only, but block ${now.at.height} is published, ${rest}`,
      ]
    // An archive of blocks has no state.
    if (error instanceof RefusedCall && error.code === NO_SUCH_CALL)
      return [`${node.name} does not return the state of contracts, ${rest}`]
    throw error
  } finally {
    if (isWritten) await now.close()
  }
}
