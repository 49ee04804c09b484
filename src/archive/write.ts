import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { changesProducers } from '#chain/effects.ts'
import { signatureFault } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'
import { type ArchivedBlock, type BlockLines, linesOf, NO_SIGN } from './block-lines.ts'
import { CHUNK_BLOCKS, CHUNK_CHARACTERS } from './chunk.ts'
import { type FileWriter, fileWriter, PART } from './file-writer.ts'
import { FORMAT, MANIFEST, type Manifest, manifestText, readManifest } from './manifest.ts'

/** What an archive is of, and how it is divided. */
export type ArchiveOf = Pick<Manifest, 'chain_id' | 'net_name' | 'genesis_hash' | 'proof' | 'blocks_per_file'>

/** What is to be written. */
export type Writing = {
  /** The blocks from a height on; `parent` is the hash of the one before, undefined for the first one of an archive. */
  readonly source: (from: number, parent: string | undefined) => AsyncIterable<ArchivedBlock>
  /** First block of a new archive. */
  readonly from: number
  /** Last block; its file may be shorter than others. */
  readonly to: number
  /** Called with each file that was added and the height of its last block. */
  readonly onWritten: (written: { readonly name: string; readonly height: number }) => void
}

/**
 * Writes blocks into an archive, behind those that it has. A file gets its name, and the manifest its line, when the file
 * is whole on the disk, so a process may be killed at any time. Two writers of the same blocks write the same content.
 * Throws Failure 'conflict' when the archive is of another chain or divided in another way, 'damaged' when its manifest is.
 * Resolves with the manifest; undefined: no file is complete.
 */
export const writeArchive = async (
  folder: string,
  of: ArchiveOf,
  { source, from, to, onWritten }: Writing,
): Promise<Manifest | undefined> => {
  await mkdir(folder, { recursive: true })
  await removeParts(folder)
  let manifest = await manifestIn(folder)
  if (manifest !== undefined) requireSame(folder, manifest, of)
  const first = (manifest?.height ?? from - 1) + 1
  if (first > to) return manifest
  let file: FileWriter | undefined
  try {
    for await (const { lines, last, endsFile } of chunksOf(source(first, manifest?.hash), of, to)) {
      file ??= await fileWriter(folder, lines[0]?.height ?? first)
      await file.add(lines)
      if (!endsFile) continue
      const written = await file.end(last.height, last.hash)
      file = undefined
      const { height, hash } = last
      const files = [...(manifest?.files ?? []), written]
      // The name that it began with stays: it is not known to whoever writes stored blocks without a node.
      const net_name = manifest?.net_name || of.net_name
      manifest = { ...of, net_name, format: FORMAT, height, hash, time: String(last.time), files }
      await replace(join(folder, MANIFEST), manifestText(manifest))
      onWritten({ name: written.name, height })
    }
  } finally {
    await file?.abandon()
  }
  return manifest
}

/** The manifest of the archive in a folder; undefined: there is none. Throws as `readManifest`. */
const manifestIn = async (folder: string): Promise<Manifest | undefined> => {
  const path = join(folder, MANIFEST)
  try {
    return readManifest(await readFile(path, 'utf8'), path)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
}

const requireSame = (folder: string, known: Manifest, of: ArchiveOf): void => {
  for (const name of ['chain_id', 'genesis_hash', 'proof', 'blocks_per_file'] as const)
    if (known[name] !== of[name])
      throw new Failure('conflict', `The archive in ${folder} has ${name} ${known[name]}, not ${of[name]}.`, {
        help: 'Write this chain into another folder, or set the same node and level of proof as before.',
      })
}

const removeParts = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) if (name.endsWith(PART)) await rm(join(folder, name))
}

type ChunkOfBlocks = {
  readonly lines: readonly BlockLines[]
  readonly last: Block
  readonly endsFile: boolean
}

/**
 * Blocks in runs that are compressed together. Where a run ends depends on its blocks alone, so that the same blocks make
 * the same files; the last block of a run has its signature, which proves all before it.
 */
const chunksOf = async function* (
  blocks: AsyncIterable<ArchivedBlock>,
  { proof, blocks_per_file: each }: ArchiveOf,
  to: number,
): AsyncGenerator<ChunkOfBlocks> {
  let run: ArchivedBlock[] = []
  let characters = 0
  for await (const archived of blocks) {
    const { block } = archived
    run.push(archived)
    for (const { body } of block.transactions) characters += body.length
    const endsFile = block.height === to || (block.height + 1) % each === 0
    if (!endsFile && (block.height + 1) % CHUNK_BLOCKS !== 0 && characters < CHUNK_CHARACTERS) continue
    yield {
      lines: withNeededSignatures(run, proof).map(linesOf),
      last: block,
      endsFile,
    }
    run = []
    characters = 0
  }
}

/**
 * One signature proves all blocks before it: that of the last one is kept, and those of blocks that change whose signatures
 * count. Throws as `requireSigned`.
 */
const withNeededSignatures = (
  run: readonly ArchivedBlock[],
  proof: ArchiveOf['proof'],
): readonly ArchivedBlock[] => {
  const last = run.at(-1)
  return run.map(each => {
    if (each !== last && !changesProducers(each.block)) return { ...each, sign: undefined }
    if (proof === 'signed') requireSigned(each)
    return each
  })
}

/** Throws Failure 'bad_block' unless the block has a valid signature: nobody could load what is written without it. */
const requireSigned = ({ block: { height, hash, witness }, sign = NO_SIGN }: ArchivedBlock): void => {
  const fault = height === 0 ? undefined : signatureFault(decodeBase58(hash), { witness, sign })
  if (fault === undefined) return
  throw new Failure('bad_block', `Block ${height}: ${fault}.`, {
    details: { height },
    help: `An archive must end with a block that is signed. Use a node that returns signatures; an archive in its place has that of every ${CHUNK_BLOCKS}th block (--to ${CHUNK_BLOCKS - 1}, ${2 * CHUNK_BLOCKS - 1} …) and of its last one.`,
  })
}

/** Puts a text in the place of a file in one step. */
const replace = async (path: string, text: string): Promise<void> => {
  const part = `${path}${PART}`
  const file = await open(part, 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, path)
}
