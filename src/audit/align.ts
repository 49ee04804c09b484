import type { ProofLevel } from '#chain/proof.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Identity, Published, Store, Writer } from '#store/port.ts'
import { provedBelow, recordedLevel } from '#store/published.ts'
import type { Clock } from '#time/clock.ts'
import { lastWhere } from './last-where.ts'
import { isAbsurd } from './record.ts'

type Parts = {
  readonly store: Pick<Store, 'name' | 'published' | 'identity'>
  readonly writer: Writer
  /** Absent: the stored blocks themselves are believed. */
  readonly node?: Node
  /** How far the node's block is to be proved; absent: as far as the store says that its own was. */
  readonly prove?: ProofLevel
  readonly clock: Pick<Clock, 'now'>
}

/** Where a store ends once it agrees with its node. */
export type Aligned = {
  /**
   * `right`: nothing was wrong. `settled`: only the record of its end was wrong. `back`: batches were undone. `closed`:
   * state must be derived again up to the end, and then the store be settled; until then it cannot be read.
   */
  readonly way: 'right' | 'settled' | 'back' | 'closed'
  readonly end: Published
  readonly identity: Identity
  /** Where it ended before, when that is known. */
  readonly from?: number
}

/**
 * Brings a store that is locked for a repair to the last block that it and the node have in common. The end of the
 * store is the one that most of its records name, whatever is published. Blocks are compared by hash, the last common
 * one is found by bisection, and the undo data of the last batches leads back to it. The end is a block of the node
 * that passed the proofs of loading.
 */
export const align = async (parts: Parts, signal: AbortSignal): Promise<Aligned> => {
  const { writer, node } = parts
  const identity = await identityOf(parts, signal)
  const last = mostSaid(await writer.endings())
  const top =
    last ?? (await lastWhere(undefined, async height => (await writer.blockAt(height)) !== undefined))
  if (top < 0)
    throw new Failure('conflict', `${parts.store.name} has no block from which loading could continue.`, {
      help: 'Run iostlens load with another --store.',
    })
  const lib = node === undefined ? top : await libOf(node, signal)
  const common = await lastCommon(parts, Math.min(top, lib), signal)
  if (common === lib && lib < top)
    throw new Failure(
      'unavailable',
      `The node's last irreversible block ${lib} is below the last stored block ${top}.`,
      { help: 'Wait until the node has that block, or set another node with --node.' },
    )
  const end = await endAt(parts, { height: common, lib }, signal)
  if (last === undefined || (common === last && writer.unfinished)) return await closed(writer, identity, end)
  if (common === last) return await settled(parts, identity, end)
  return (await back(parts, identity, { last, end })) ?? (await closed(writer, identity, end))
}

/** The height that more places name than any other does, and two at least. */
const mostSaid = (endings: readonly number[]): number | undefined => {
  const counts = new Map<number, number>()
  for (const height of endings) counts.set(height, (counts.get(height) ?? 0) + 1)
  const [first, second] = [...counts].toSorted(([, a], [, b]) => b - a)
  return first !== undefined && first[1] > 1 && first[1] > (second?.[1] ?? 0) ? first[0] : undefined
}

/**
 * Which chain it is by its genesis block, not by the store's record; throws 'conflict' if it is not the node's chain.
 */
const identityOf = async ({ store, writer, node }: Parts, signal: AbortSignal): Promise<Identity> => {
  const said = await store.identity()
  if (said === undefined) throw nothingLoaded(store.name)
  if (node === undefined) return said
  const { chainId } = await node.chainInfo(signal)
  const genesis = await node.blockHash(0, signal)
  const stored = (await writer.blockAt(0))?.hash ?? said.genesis
  const isSame =
    genesis !== undefined && (genesis === stored || (genesis === said.genesis && chainId === said.chainId))
  if (!isSame)
    throw new Failure(
      'conflict',
      `The node's chain is ${chainId} with genesis ${genesis}, the store's ${said.chainId} with ${stored}.`,
      { help: 'Set a node of the stored chain with --node.' },
    )
  return { ...said, chainId, genesis }
}

/** The node's last irreversible block, which it must have. */
const libOf = async (node: Node, signal: AbortSignal): Promise<number> => {
  const { libBlock } = await node.chainInfo(signal)
  if ((await node.blockHash(libBlock, signal)) !== undefined) return libBlock
  throw new Failure(
    'unavailable',
    `The node does not have the last irreversible block ${libBlock} that it reports.`,
  )
}

const lastCommon = async (
  { writer, node, store }: Parts,
  top: number,
  signal: AbortSignal,
): Promise<number> => {
  const isCommon = async (height: number): Promise<boolean> => {
    signal.throwIfAborted()
    const stored = await writer.blockAt(height)
    if (stored === undefined || node === undefined) return stored !== undefined
    return stored.hash === (await node.blockHash(height, signal))
  }
  const common = await lastWhere(top, isCommon)
  if (common >= 0) return common
  throw new Failure('conflict', `${store.name} has no block in common with the node.`, {
    help: 'Load the chain into another store.',
  })
}

/** The height of the last common block, and the node's last irreversible one. */
type EndPlace = { readonly height: number; readonly lib: number }

/** The record of a block as the end: the node's own block, proved like any that is loaded. */
const endAt = async (parts: Parts, place: EndPlace, signal: AbortSignal): Promise<Published> => {
  const end = await blockAsEnd(parts, place, signal)
  const { proved } = parts.writer.checkpoint ?? {}
  return proved === undefined ? end : { ...end, proved: provedBelow(proved, place.height + 1) }
}

const blockAsEnd = async (
  { writer, node, store, clock, prove }: Parts,
  { height, lib }: EndPlace,
  signal: AbortSignal,
): Promise<Published> => {
  if (node !== undefined) {
    const parent = height === 0 ? undefined : (await writer.blockAt(height - 1))?.hash
    const level = prove ?? recordedLevel(writer.checkpoint ?? {}, height)
    const at = { from: height, to: height, lib, prove: level, signal }
    const range = parent === undefined ? at : { ...at, parent }
    for await (const { block } of node.blocks(range))
      return { height, hash: block.hash, time: block.time, lib: Math.max(lib, height) }
    throw new Failure('unavailable', `The node ${node.name} did not return block ${height}.`)
  }
  const stored = await writer.blockAt(height)
  if (stored === undefined) throw new Failure('conflict', `${store.name} has no block ${height}.`)
  const said = (await store.published().catch(() => undefined))?.lib ?? height
  const own = { height, hash: stored.hash, time: stored.time }
  return { ...own, lib: isAbsurd({ ...own, lib: said }, clock.now()) ? height : said }
}

const settled = async (
  { store, writer, clock }: Parts,
  identity: Identity,
  end: Published,
): Promise<Aligned> => {
  const said = [writer.checkpoint, await store.published().catch(() => undefined)]
  const isSaid = said.every(
    each =>
      each?.height === end.height &&
      each.hash === end.hash &&
      each.time === end.time &&
      !isAbsurd(each, clock.now()),
  )
  if (isSaid && Bun.deepEquals(await store.identity(), identity)) return { way: 'right', end, identity }
  await writer.settle({ identity, end, open: true })
  return { way: 'settled', end, identity }
}

/** undefined: what is kept does not lead so far. */
const back = async (
  { writer, store, clock }: Parts,
  identity: Identity,
  { last, end }: { readonly last: number; readonly end: Published },
): Promise<Aligned | undefined> => {
  const { checkpoint } = writer
  const stored = await writer.blockAt(last)
  // Batches are taken back from where the last one ended.
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

const closed = async (writer: Writer, identity: Identity, end: Published): Promise<Aligned> => {
  await writer.settle({ identity, end, open: false })
  return { way: 'closed', end, identity }
}
