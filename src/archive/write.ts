import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { changesProducers } from '#chain/effects.ts'
import { decodeOrigInfo, headHash, infoForms, type RawHead, signatureFault } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'
import { isMissing } from './folder.ts'
import {
  type ArchivedBlock,
  type ArchiveFile,
  type ArchiveManifest,
  type BlockLines,
  CHUNK_BLOCKS,
  type Chunk,
  FORMAT,
  joinBlockLines,
  LENGTH_DIGITS,
  MAGIC,
  MANIFEST,
  MAX_TEXT_BYTES,
  manifestText,
  parseBlockCode,
  readManifest,
  sha256,
} from './format.ts'

/**
 * A chunk with this number of characters takes no more blocks: an answer made from it stays well below the size limit.
 */
const CHUNK_CHARACTERS = 4 * 1024 * 1024

/** Suffix of files that are being written. The next run removes any that a killed process left behind. */
const PART = '.part'

/** An archive file that is being written. It gets its final name in `end`, when all of it is on the disk. */
type FileWriter = {
  add(lines: readonly BlockLines[]): Promise<void>
  /** `to`, `hash`: height and hash of the last block. */
  end(to: number, hash: string): Promise<ArchiveFile>
  abandon(): Promise<void>
}

/** Creates the file whose first block is at height `from`. */
async function fileWriter(folder: string, from: number): Promise<FileWriter> {
  const path = join(folder, `${from}${PART}`)
  const file = await open(path, 'w')
  const hash = createHash('sha256')
  const content = createHash('sha256')
  const chunks: Chunk[] = []
  const contracts: (readonly [string, number])[] = []
  let [bytes, contentBytes] = [0, 0]
  const put = async (part: Uint8Array): Promise<void> => {
    await file.writeFile(part)
    hash.update(part)
    bytes += part.byteLength
  }
  await put(Buffer.from(MAGIC))
  return {
    add: async lines => {
      const text = joinBlockLines(lines)
      const first = lines[0]?.height ?? from
      const range = { from: first, to: first + lines.length - 1 }
      const length = Buffer.byteLength(text)
      const fault = `Blocks ${first} to ${range.to} have ${length} bytes, which no reader of archives accepts.`
      if (length > MAX_TEXT_BYTES) throw new Failure('bad_block', fault, { retryable: false })
      // Higher levels of zstd save a few per cent and take many times as long.
      const part = await Bun.zstdCompress(Buffer.from(text), { level: 9 })
      chunks.push({ ...range, offset: bytes, bytes: part.byteLength, sha256: sha256(part) })
      content.update(text)
      contentBytes += length
      for (const block of lines) for (const { id } of parseBlockCode(block)) contracts.push([id, block.height])
      await put(part)
    },
    end: async (to, lastHash) => {
      const table = JSON.stringify(chunks)
      await put(Buffer.from(`${table}${String(Buffer.byteLength(table)).padStart(LENGTH_DIGITS, '0')}`))
      await file.sync()
      await file.close()
      // File names sort in the order of their blocks: at two blocks a second, ten digits last for 150 years.
      const name = `${[from, to].map(height => String(height).padStart(10, '0')).join('-')}.blocks`
      await rename(path, join(folder, name))
      return {
        name,
        from,
        to,
        hash: lastHash,
        bytes,
        sha256: hash.digest('hex'),
        content_bytes: contentBytes,
        content_sha256: content.digest('hex'),
        table_sha256: sha256(table),
        contracts,
      }
    },
    abandon: async () => {
      await file.close()
      await rm(path, { force: true })
    },
  }
}

/** Identity of an archive's chain, and the division into files. */
export type ArchiveOf = Pick<ArchiveManifest, 'chain_id' | 'genesis_hash' | 'proof' | 'blocks_per_file'>

/** The blocks to write. */
export type Writing = {
  /**
   * The blocks from a height on, in order. `parent`: hash of the block before; undefined for the first one of an
   * archive.
   */
  readonly source: (from: number, parent: string | undefined) => AsyncIterable<ArchivedBlock>
  /** First block of a new archive. */
  readonly from: number
  /** The last block. Its file may be shorter than the others. */
  readonly to: number
  /** Called after each added file with its name and the height of its last block. */
  readonly onWritten: (written: { readonly name: string; readonly height: number }) => void
}

/**
 * Appends blocks to an archive. A file gets its name, and the manifest its entry, only when the whole file is on the
 * disk, so the process may be killed at any time. Two writers of the same blocks write the same content. Throws Failure
 * 'conflict' when the archive is of another chain or divided in another way, 'damaged' when its manifest is, 'usage'
 * when the folder cannot be made. Resolves with the manifest, or undefined when no file is complete.
 */
export async function writeArchive(
  folder: string,
  of: ArchiveOf,
  { source, from, to, onWritten }: Writing,
): Promise<ArchiveManifest | undefined> {
  await mkdir(folder, { recursive: true }).catch((cause: Error) => {
    throw new Failure('usage', `The folder ${folder} cannot be created: ${cause.message}.`, {
      help: 'Name a writable folder for the archive; it may be new.',
      cause,
    })
  })
  for (const name of await readdir(folder)) if (name.endsWith(PART)) await rm(join(folder, name))
  let manifest = await findManifest(folder)
  if (manifest !== undefined) requireSame(folder, manifest, of)
  const first = (manifest?.height ?? from - 1) + 1
  if (first > to) return manifest
  let file: FileWriter | undefined
  try {
    for await (const { lines, last, endsFile } of chunkBlocks(source(first, manifest?.hash), of, to)) {
      file ??= await fileWriter(folder, lines[0]?.height ?? first)
      await file.add(lines)
      if (!endsFile) continue
      const written = await file.end(last.height, last.hash)
      file = undefined
      const { height, hash } = last
      const { chain_id, genesis_hash, proof, blocks_per_file } = of
      const files = [...(manifest?.files ?? []), written]
      const chain = { chain_id, net_name: '', genesis_hash, proof, blocks_per_file }
      manifest = { ...chain, format: FORMAT, height, hash, time: String(last.time), files }
      await replace(join(folder, MANIFEST), manifestText(manifest))
      onWritten({ name: written.name, height })
    }
  } finally {
    await file?.abandon()
  }
  return manifest
}

/**
 * Number of blocks in a complete file of the archive in a folder; undefined when it has none. Throws as `readManifest`.
 */
export const readBlocksPerFile = async (folder: string): Promise<number | undefined> =>
  (await findManifest(folder))?.blocks_per_file

/** The manifest of the archive in a folder; undefined when it has none. Throws as `readManifest`. */
async function findManifest(folder: string): Promise<ArchiveManifest | undefined> {
  const path = join(folder, MANIFEST)
  try {
    return readManifest(await readFile(path, 'utf8'), path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function requireSame(folder: string, known: ArchiveManifest, of: ArchiveOf): void {
  for (const name of ['chain_id', 'genesis_hash', 'proof', 'blocks_per_file'] as const)
    if (known[name] !== of[name])
      throw new Failure('conflict', `The archive in ${folder} has ${name} ${known[name]}, not ${of[name]}.`, {
        help: 'Write this chain into another folder, or set the same node, --prove and --blocks-per-file as before.',
      })
}

/** Placeholder for a signature that is not stored. */
const NO_SIGN = { algorithm: 0, sig: '', pubKey: '' }

/** The lines of a block. Throws Failure 'bad_block' when the hash of its header is not the block's hash. */
function formatBlockLines({ block, sign = NO_SIGN, raw, code }: ArchivedBlock): BlockLines {
  const { height, version, witness, time } = block
  const info = Buffer.from(formatBlockInfo(block))
  const base64 = (hash: string): string => Buffer.from(decodeBase58(hash)).toString('base64')
  const head = {
    version,
    parentHash: base64(block.parentHash),
    txMerkleHash: base64(block.txMerkleHash),
    txReceiptMerkleHash: base64(block.txReceiptMerkleHash),
    info: info.toString('base64'),
    number: String(height),
    witness,
    time: String(time),
  }
  const { algorithm, sig, pubKey } = sign as typeof NO_SIGN
  return {
    height,
    head: JSON.stringify({ head, sign: { algorithm, sig, pubKey } }),
    transactions: `[${block.transactions.map(({ body }) => body).join(',')}]`,
    more: [
      ...(block.info === '{}' ? [] : [`i${block.info}`]),
      ...(block.origInfo === decodeOrigInfo(info) ? [] : [`o${JSON.stringify(block.origInfo)}`]),
      ...(raw === undefined ? [] : [`r${Buffer.from(raw).toString('base64')}`]),
      ...code.map(each => `c${JSON.stringify(each)}`),
    ],
  }
}

/**
 * The text of `info` in the block's header. Nodes return several forms of it alike; this is the form that
 * gives the block's hash.
 */
function formatBlockInfo(block: Block): string {
  const head: Omit<RawHead, 'sign' | 'info'> = {
    version: BigInt(block.version),
    parentHash: decodeBase58(block.parentHash),
    txMerkleHash: decodeBase58(block.txMerkleHash),
    txReceiptMerkleHash: decodeBase58(block.txReceiptMerkleHash),
    height: block.height,
    witness: block.witness,
    time: block.time,
  }
  const info = infoForms(block).find(form => headHash({ ...head, info: Buffer.from(form) }) === block.hash)
  if (info === undefined)
    throw new Failure('bad_block', `Block ${block.height}: its head does not have the hash ${block.hash}.`)
  return info
}

/**
 * Splits blocks into runs that are compressed together. The end of a run depends only on its blocks, so that the same
 * blocks make the same files. The last block of a run keeps its signature, which proves all blocks before it.
 */
const chunkBlocks = async function* (
  blocks: AsyncIterable<ArchivedBlock>,
  { proof, blocks_per_file: each }: ArchiveOf,
  to: number,
): AsyncGenerator<{ readonly lines: readonly BlockLines[]; readonly last: Block; readonly endsFile: boolean }> {
  let run: ArchivedBlock[] = []
  let characters = 0
  for await (const archived of blocks) {
    const { block } = archived
    run.push(archived)
    for (const { body } of block.transactions) characters += body.length
    const endsFile = block.height === to || (block.height + 1) % each === 0
    if (!endsFile && (block.height + 1) % CHUNK_BLOCKS !== 0 && characters < CHUNK_CHARACTERS) continue
    yield { lines: withNeededSignatures(run, proof).map(formatBlockLines), last: block, endsFile }
    run = []
    characters = 0
  }
}

/**
 * Drops the signatures that the proof does not need. One signature proves all blocks before it, so the last
 * block keeps its own. Blocks that change the producers keep theirs too. Throws as `requireSigned`.
 */
function withNeededSignatures(run: readonly ArchivedBlock[], proof: ArchiveOf['proof']): readonly ArchivedBlock[] {
  const last = run.at(-1)
  return run.map(each => {
    if (each !== last && !changesProducers(each.block)) return { ...each, sign: undefined }
    if (proof === 'signed') requireSigned(each)
    return each
  })
}

/** Throws Failure 'bad_block' unless the block has a valid signature: an archive without it could not be loaded. */
function requireSigned({ block: { height, hash, witness }, sign = NO_SIGN }: ArchivedBlock): void {
  const fault = height === 0 ? undefined : signatureFault(decodeBase58(hash), { witness, sign })
  if (fault === undefined) return
  throw new Failure('bad_block', `Block ${height}: ${fault}.`, {
    details: { height },
    help: `An archive must end with a block that is signed. Use a node that returns signatures; an archive in its place has only those of every ${CHUNK_BLOCKS}th block (--to ${CHUNK_BLOCKS - 1}, ${2 * CHUNK_BLOCKS - 1} …) and of its last one.`,
  })
}

/** Replaces the text of a file atomically. */
async function replace(path: string, text: string): Promise<void> {
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
