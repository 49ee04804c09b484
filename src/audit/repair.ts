import type { ProofLevel } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { fetchChain, requireChain } from '#node/pool.ts'
import type { Node } from '#node/port.ts'
import { nothingLoaded } from '#store/failures.ts'
import type { RestoreOutcome } from '#store/maintain-port.ts'
import type { Identity, Published, Store, Writer } from '#store/port.ts'
import { recordedLevel, trimProofs } from '#store/published.ts'
import type { Clock } from '#time/clock.ts'
import type { AuditResult } from './audit.ts'
import { isAbsurd } from './compare.ts'

/**
 * The last height for which `holds` is true, given that it is then true for all heights below; −1: none.
 * `top` is the last height to check; undefined: no limit. Checks the end first, then steps back in growing
 * steps, then bisects, so that a result near the end costs little.
 */
export async function findLastHeight(
  top: number | undefined,
  holds: (height: number) => Promise<boolean>,
): Promise<number> {
  const [from, until] = top === undefined ? await boundUpward(holds) : await boundDownward(top, holds)
  let [good, bad]: Bounds = [from, until]
  while (bad - good > 1) {
    const middle: number = good + Math.floor((bad - good) / 2)
    if (await holds(middle)) good = middle
    else bad = middle
  }
  return good
}

/** A height for which the condition holds, or −1, and a later one for which it does not. */
type Bounds = [good: number, bad: number]

async function boundUpward(holds: (height: number) => Promise<boolean>): Promise<Bounds> {
  let good = -1
  for (let step = 1; ; step *= 2) {
    if (!(await holds(good + step))) return [good, good + step]
    good += step
  }
}

async function boundDownward(top: number, holds: (height: number) => Promise<boolean>): Promise<Bounds> {
  let bad = top + 1
  for (let step = 1; bad - step >= 0; step *= 2) {
    if (await holds(bad - step)) return [bad - step, bad]
    bad -= step
  }
  return [-1, bad]
}

/** The end of a store after it was aligned with its node. */
export type AlignResult = {
  /**
   * `right`: nothing was wrong. `settled`: only the record of the end was wrong. `back`: batches were undone. `closed`:
   * the state must be derived again up to the end, after which the store must be settled; until then it cannot be read.
   */
  readonly way: 'right' | 'settled' | 'back' | 'closed'
  readonly end: Published
  readonly identity: Identity
  /** Height of the end before the repair, if known. */
  readonly from?: number
}

/**
 * Sets the end of a store that is locked for a repair to the last block that it and the node have in common. The height
 * that most of its records name counts as the end, whatever is published; if no two records agree, the last stored block.
 * Blocks are compared by hash, and the last common one is found by bisection. The undo data of the last batches is then
 * applied down to it. With a node, the new end is a block of the node that passed the proofs of loading.
 */
async function align(parts: RepairParts, signal: AbortSignal): Promise<AlignResult> {
  const { writer, node } = parts
  const identity = await requireChainIdentity(parts, signal)
  const last = findMajorityEnd(await writer.endings())
  const top = last ?? (await findLastHeight(undefined, async height => (await writer.blockAt(height)) !== undefined))
  if (top < 0)
    throw new Failure('conflict', `${parts.store.name} has no block from which loading could continue.`, {
      help: "Run 'iostlens load' with another --store.",
    })
  const lib = node === undefined ? top : await requireLib(node, signal)
  const common = await findLastCommonHeight(parts, Math.min(top, lib), signal)
  if (common === lib && lib < top)
    throw new Failure(
      'unavailable',
      `The node's last irreversible block ${lib} is below the last stored block ${top}.`,
      { help: 'Wait until the node has that block, or set another node with --node.' },
    )
  const end = await fetchEnd(parts, { height: common, lib }, signal)
  if (common === last && !writer.unfinished) return await settleEnd(parts, identity, end)
  const undone = last === undefined || common === last ? undefined : await undoBatches(parts, identity, { last, end })
  if (undone !== undefined) return undone
  await writer.settle({ identity, end, open: false })
  return { way: 'closed', end, identity }
}

/** The height named by more records than any other, and by at least two. */
function findMajorityEnd(endings: readonly number[]): number | undefined {
  const counts = new Map<number, number>()
  for (const height of endings) counts.set(height, (counts.get(height) ?? 0) + 1)
  const [first, second] = [...counts].toSorted(([, a], [, b]) => b - a)
  return first !== undefined && first[1] > 1 && first[1] > (second?.[1] ?? 0) ? first[0] : undefined
}

/**
 * Identifies the chain by the node's genesis block. Throws 'conflict' if neither the stored block 0 nor the store's
 * record agrees with it.
 */
async function requireChainIdentity({ store, writer, node }: RepairParts, signal: AbortSignal): Promise<Identity> {
  const claimed = await store.identity()
  if (claimed === undefined) throw nothingLoaded(store.name)
  if (node === undefined) return claimed
  const served = await fetchChain(node, signal)
  const stored = (await writer.blockAt(0))?.hash ?? claimed.genesis
  const { chainId, genesis } = served.genesis === stored ? served : await requireChain(node, claimed, signal)
  return { ...claimed, chainId, genesis }
}

/** The node's last irreversible block; the node must have that block. */
async function requireLib(node: Node, signal: AbortSignal): Promise<number> {
  const { libBlock } = await node.chainInfo(signal)
  if ((await node.blockHash(libBlock, signal)) !== undefined) return libBlock
  throw new Failure('unavailable', `The node does not have the last irreversible block ${libBlock} that it reports.`)
}

async function findLastCommonHeight(
  { writer, node, store }: RepairParts,
  top: number,
  signal: AbortSignal,
): Promise<number> {
  const isCommon = async (height: number): Promise<boolean> => {
    signal.throwIfAborted()
    const stored = await writer.blockAt(height)
    if (stored === undefined || node === undefined) return stored !== undefined
    return stored.hash === (await node.blockHash(height, signal))
  }
  const common = await findLastHeight(top, isCommon)
  if (common >= 0) return common
  throw new Failure('conflict', `${store.name} has no block in common with the node.`, {
    help: 'Load the chain into another store.',
  })
}

/**
 * The record of the last common block as the end of the store. It is the node's own block, proved like any loaded one.
 * `lib`: the node's last irreversible block.
 */
async function fetchEnd(
  { writer, node, store, clock, prove }: RepairParts,
  { height, lib }: { readonly height: number; readonly lib: number },
  signal: AbortSignal,
): Promise<Published> {
  const recorded = writer.checkpoint?.proved
  const proved = recorded === undefined ? {} : { proved: trimProofs(recorded, height + 1) }
  if (node !== undefined) {
    const parent = height === 0 ? undefined : (await writer.blockAt(height - 1))?.hash
    const level = prove ?? recordedLevel(writer.checkpoint ?? {}, height)
    const at = { from: height, to: height, lib, prove: level, signal }
    const range = parent === undefined ? at : { ...at, parent }
    for await (const { block } of node.blocks(range))
      return { height, hash: block.hash, time: block.time, lib: Math.max(lib, height), ...proved }
    throw new Failure('unavailable', `The node ${node.name} did not return block ${height}.`)
  }
  const stored = await writer.blockAt(height)
  if (stored === undefined) throw new Failure('conflict', `${store.name} has no block ${height}.`)
  const claimed = (await store.published().catch(() => undefined))?.lib ?? height
  const own = { height, hash: stored.hash, time: stored.time }
  return { ...own, lib: isAbsurd({ ...own, lib: claimed }, clock.now()) ? height : claimed, ...proved }
}

async function settleEnd(
  { store, writer, clock }: RepairParts,
  identity: Identity,
  end: Published,
): Promise<AlignResult> {
  const claimed = [writer.checkpoint, await store.published().catch(() => undefined)]
  const isSaid = claimed.every(
    each =>
      each?.height === end.height && each.hash === end.hash && each.time === end.time && !isAbsurd(each, clock.now()),
  )
  if (isSaid && Bun.deepEquals(await store.identity(), identity)) return { way: 'right', end, identity }
  await writer.settle({ identity, end, open: true })
  return { way: 'settled', end, identity }
}

/** Undoes batches down to the end; undefined when the undo data does not reach that far. */
async function undoBatches(
  { writer, store, clock }: RepairParts,
  identity: Identity,
  { last, end }: { readonly last: number; readonly end: Published },
): Promise<AlignResult | undefined> {
  const { checkpoint } = writer
  const stored = await writer.blockAt(last)
  // Batches are undone from the end of the last one.
  if (stored !== undefined && checkpoint?.height !== last) {
    const { hash, time } = stored
    await writer.settle({ identity, end: { ...end, height: last, hash, time }, open: false })
  }
  const reached = await writer.takeBack(end.height)
  if (reached === undefined) return undefined
  const isSaid = Bun.deepEquals(await store.identity(), identity) && !isAbsurd(reached, clock.now())
  if (!isSaid) await writer.settle({ identity, end: { ...reached, lib: end.lib }, open: true })
  return { way: 'back', end: reached, identity, from: last }
}

type RepairParts = {
  readonly store: Store
  readonly writer: Writer
  /** Absent: the stored blocks are trusted. */
  readonly node?: Node | undefined
  /** Proof required of the node's blocks; absent: the level that the store has recorded for its own. */
  readonly prove?: ProofLevel | undefined
  /** The state of the record of the store's end before the takeover. */
  readonly restored?: RestoreOutcome
  readonly clock: Pick<Clock, 'now'>
}

/** The result of a repair. `audited` absent: the end was corrected, the rest was not checked. */
export type RepairResult = { readonly aligned: AlignResult; readonly audited?: AuditResult }

/**
 * Repairs a store. It corrects the end first and stops there if batches were undone or only the record of the
 * end was wrong. Otherwise it checks all documents with `auditAll`. A store that was closed for the repair is
 * reopened if everything could be derived again.
 */
export async function repair(
  parts: RepairParts,
  signal: AbortSignal,
  auditAll: (writer: Writer) => Promise<AuditResult>,
): Promise<RepairResult> {
  const found = await align(parts, signal)
  const isRestored = parts.restored === 'exact' && found.way === 'right'
  const aligned: AlignResult = isRestored ? { ...found, way: 'settled' } : found
  const { way, identity, end } = aligned
  if (way === 'settled' || way === 'back') return { aligned }
  const audited = await auditAll(parts.writer)
  if (way === 'closed' && audited.complete) await parts.writer.settle({ identity, end, open: true })
  return { aligned, audited }
}
