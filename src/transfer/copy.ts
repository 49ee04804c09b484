import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Audit, Identity, Store, Writer } from '#store/port.ts'
import { regardlessOfPartitions, requireSameDigests } from './compare.ts'
import { copyHistory } from './copy-history.ts'
import { copyKeys } from './copy-keys.ts'
import { copyState } from './copy-state.ts'
import { computeDigests, type Digest, type DigestOptions } from './digest.ts'
import { sumDocuments } from './manifest.ts'

/** The result of a copy: the last copied block, and the number of documents. */
export type Copied = { readonly height: number; readonly documents: number }

/**
 * Copies a store at one height into an empty one, of the same kind or another. The copy is closed to readers
 * and loaders until the digest of each index equals that of the source. After a kill at any moment, the next
 * run continues after the last whole batch of blocks, at the current height of the source. Throws 'usage'
 * when the other store has other data, 'damaged' with the index that differs.
 */
export async function copyStore(from: Store, to: Store, how: DigestOptions): Promise<Copied> {
  const identity = await from.identity()
  if (identity === undefined) throw nothingLoaded(from.name)
  const source = await from.audit()
  try {
    await to.create()
    const writer = await to.takeOver(identity, { repair: true })
    try {
      await begin({ source, to, writer })
      const isOpen = !writer.unfinished
      if (!isOpen) {
        await copyHistory(source, writer, how)
        await copyState({ source, from, to, writer }, how)
        await writer.accept?.()
      }
      const digests = await requireCopied({ from, to, source }, how)
      if (!isOpen) await open(writer, identity, source)
      await copyKeys(from, to)
      return { height: source.at.height, documents: sumDocuments(digests) }
    } finally {
      await writer.release()
    }
  } finally {
    await source.close()
  }
}

type Sides = { readonly source: Audit; readonly to: Store; readonly writer: Writer }

/** Closes an empty store, or continues the work of an earlier run. Throws 'usage' for any other store. */
async function begin({ source, to, writer }: Sides): Promise<void> {
  const { checkpoint, unfinished } = writer
  if (checkpoint === undefined) await writer.shut()
  else {
    const [block] = await source.getMany(blocks, [blockId(checkpoint.height)])
    const isCopy = unfinished ? block?.hash === checkpoint.hash : checkpoint.hash === source.at.hash
    if (!isCopy)
      throw new Failure('usage', `${to.name} has blocks already, up to ${checkpoint.height}.`, {
        help: 'Copy into a store that does not exist yet.',
      })
  }
  // Discards the data that a killed run wrote after its last batch.
  if (checkpoint === undefined || unfinished) await writer.accept?.()
}

/** Returns the digests. Throws 'damaged', naming the index, unless both stores have the same ones. */
async function requireCopied(
  { from, to, source }: Pick<Sides, 'source' | 'to'> & { readonly from: Store },
  how: DigestOptions,
): Promise<readonly Digest[]> {
  const expected = regardlessOfPartitions(await computeDigests(from, source, staged(how, 'source')))
  const copy = await to.audit()
  try {
    const found = regardlessOfPartitions(await computeDigests(to, copy, staged(how, 'copy')))
    requireSameDigests(to.name, found, expected)
    return found
  } finally {
    await copy.close()
  }
}

const staged = ({ signal, onProgress }: DigestOptions, of: string): DigestOptions => ({
  signal,
  onProgress: at => onProgress({ ...at, stage: `${at.stage} of the ${of}` }),
})

/** Opens the copy to readers and loaders. */
async function open(writer: Writer, identity: Identity, { at }: Audit): Promise<void> {
  await writer.settle({ identity, end: at, open: true })
  await writer.accept?.()
}
