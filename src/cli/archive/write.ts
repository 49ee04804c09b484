import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import {
  type ArchivedBlock,
  type ArchiveFile,
  CHUNK_BLOCKS,
  damagedFile,
  joinBlockLines,
  MAGIC,
} from '#archive/format.ts'
import { type Archive, openArchive } from '#archive/reader.ts'
import { type ArchiveOf, readBlocksPerFile, type Writing, writeArchive } from '#archive/write.ts'
import { streamStoredBlocks } from '#audit/source.ts'
import { type Block, type LoadedBlock, type ProofLevel, USUAL_LEVEL } from '#chain/block.ts'
import { checkWhole } from '#chain/check.ts'
import { decodeRawBlock } from '#chain/decode.ts'
import { namesKeySilently } from '#chain/effects.ts'
import { headHash } from '#chain/head.ts'
import { decodeChainText } from '#chain/receipt-hash.ts'
import { Failure, type Log } from '#failure/failure.ts'
import { isTransient, pauseAfterFailure, retriesExhausted } from '#load/retry.ts'
import { ARCHIVE, type ArchiveNodeOptions, archiveNode } from '#node/archive-node.ts'
import { fetchChain, requireChain } from '#node/pool.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { type Command, type CommandCall, parseToHeight } from '../command.ts'
import { connectNode, requireExisting, requireUsable, withStore } from '../compose.ts'
import { type Stage, stageProgress } from '../progress.ts'
import { LOGGING, NODE, STORE } from '../settings.ts'
import { withBar } from '../stop.ts'
import { provingThreads } from '../threads/loading-threads.ts'

/** Reads every byte of an archive and proves every block. Throws 'damaged' with the file of the first fault. */
export async function checkArchive(
  archive: Archive,
  checking: {
    /** Path or URL of the archive, with the user and password of a URL. */
    readonly location: string
    readonly level: ProofLevel
    readonly signal: AbortSignal
    readonly threads?: ArchiveNodeOptions['threads']
    readonly onProgress: (at: Stage) => void
  },
): Promise<void> {
  const { files } = archive.manifest
  for (const [done, file] of files.entries()) {
    checking.signal.throwIfAborted()
    checking.onProgress({ stage: 'files', done, of: files.length })
    await checkFile(archive, file)
  }
  await proveArchive(archive, checking)
}

/** Bytes per read. */
const PART = 8 * 1024 * 1024

async function checkFile(archive: Archive, file: ArchiveFile): Promise<void> {
  const { folder } = archive
  const where = `${folder.name}/${file.name}`
  const hash = createHash('sha256')
  for (let at = 0; at < file.bytes; at += PART) {
    const part = await folder.bytes(file.name, at, Math.min(file.bytes, at + PART))
    if (at === 0 && Buffer.from(part.subarray(0, MAGIC.length)).toString() !== MAGIC)
      throw damagedFile(where, 'it does not begin as a file of blocks does')
    hash.update(part)
  }
  if (hash.digest('hex') !== file.sha256) throw damagedFile(where, 'it does not have the hash in the manifest')
  const content = createHash('sha256')
  for (let next = file.from; next <= file.to; ) {
    const found = await archive.chunkAt(next)
    if (found === undefined) throw damagedFile(where, `its table lacks block ${next}`)
    content.update(joinBlockLines(await archive.blocks(next, found.chunk.to)))
    next = found.chunk.to + 1
  }
  if (content.digest('hex') !== file.content_sha256)
    throw damagedFile(where, 'its blocks do not have the hash in the manifest')
}

async function proveArchive(
  archive: Archive,
  { location, level, threads, onProgress, signal }: Parameters<typeof checkArchive>[1],
): Promise<void> {
  const { files, height, hash, chain_id, genesis_hash } = archive.manifest
  const from = files[0]?.from ?? 0
  const node = archiveNode(location, undefined, {
    prove: level,
    ...(threads === undefined ? {} : { threads }),
  })
  let last = ''
  try {
    for await (const { block } of node.blocks({ from, to: height, prove: level, signal })) {
      last = block.hash
      if (block.height === 0 && block.hash !== genesis_hash) throw toMismatch(archive, 'genesis_hash', block.hash)
      const other = block.transactions.find(({ chainId }) => chainId !== 0 && chainId !== chain_id)
      if (other !== undefined) throw toMismatch(archive, 'chain_id', String(other.chainId))
      onProgress({ stage: 'blocks', done: block.height - from + 1, of: height - from + 1 })
    }
  } finally {
    node.close()
  }
  if (last !== hash) throw toMismatch(archive, 'hash', last)
}

const toMismatch = ({ folder }: Archive, name: string, found: string): Failure =>
  new Failure('damaged', `${folder.name}/manifest.json: ${name} is not that of its blocks, ${found}.`)

export const archiveCheck: Command = {
  name: 'archive check',
  words: ['FOLDER'],
  summary: 'prove every block of an archive; exit code 3 if anything is wrong',
  about: [
    'Reads every byte of an archive (a folder, or an http:// or https:// URL) and proves each block: its hash, its parent, the merkle roots of its transactions and receipts, and the signatures, as far as the archive was written with them. Hashes of files are compared with the manifest.',
    'Which keys may sign a block is known only from the chain itself; a load checks that, too.',
    'The check ends at the first fault: it names the file and the block, and ends with exit code 3.',
  ],
  settings: ['prove', 'threads', ...LOGGING],
  examples: ['iostlens archive check /archive', 'iostlens archive check https://archive.example/iost'],
  run: async call => {
    const { words, out } = call
    const [word = ''] = words
    const location = word.replace(new RegExp(`^${ARCHIVE}`), '')
    const archive = await openArchive(location)
    const level = call.values.prove ?? archive.manifest.proof
    await withBar(call, new Failure('deadline', 'Stopped before everything was checked.'), () =>
      checkArchive(archive, {
        location,
        level,
        signal: call.signal,
        threads: provingThreads(call.values, call.provingProgram),
        onProgress: stageProgress(call, { bar: 'Checking', log: 'Checked an archive.' }),
      }),
    )
    const { files, height, hash } = archive.manifest
    const blocks = `blocks ${files[0]?.from} to ${height} in ${files.length} files`
    out(`${archive.folder.name}: ${blocks}, all proved (${level}). Hash of the last block: ${hash}`)
    return 0
  },
}

/** Number of blocks whose signatures are fetched in one request. */
const RUN = 100

type Range = {
  readonly from: number
  readonly to: number
  /** Hash of the block before the first one; undefined: any. */
  readonly parent?: string | undefined
  readonly signal: AbortSignal
}

/** Blocks of a node in their archived form; with `signed` they include the signatures of their headers. */
export const nodeBlocks = async function* (
  node: Node,
  { from, to, parent, signal }: Range,
  { lib, signed }: { readonly lib: number; readonly signed: boolean },
): AsyncGenerator<ArchivedBlock> {
  const after = parent === undefined ? {} : { parent }
  const blocks = node.blocks({ from, to, ...after, lib, signal, prove: signed ? 'signed' : 'linked' })
  yield* streamArchivedBlocks(blocks, { node, signed, signal, isLost: ({ proof }) => proof.lost !== undefined })
}

/** Stored blocks in their archived form. Signatures and raw blocks, which are not stored, come from the node. */
export const storeBlocks = async function* (
  store: Store,
  { from, to, parent, signal }: Range,
  { node, signed }: { readonly node: Node | undefined; readonly signed: boolean },
): AsyncGenerator<ArchivedBlock> {
  const unproved = new Set<number>()
  const source = { store, signal, onUnproved: (height: number) => void unproved.add(height) }
  const blocks = streamStoredBlocks(source, { from, to, parent })
  yield* streamArchivedBlocks(blocks, { node, signed, signal, isLost: ({ block }) => unproved.has(block.height) })
}

const streamArchivedBlocks = async function* (
  blocks: AsyncIterable<LoadedBlock>,
  means: {
    readonly node: Node | undefined
    readonly signed: boolean
    readonly signal: AbortSignal
    /** Whether the receipts of a block can be proved only by its raw form. */
    readonly isLost: (loaded: LoadedBlock) => boolean
  },
): AsyncGenerator<ArchivedBlock> {
  let run: LoadedBlock[] = []
  for await (const loaded of blocks) {
    run.push(loaded)
    if (run.length < RUN) continue
    yield* addSignatures(run, means)
    run = []
  }
  yield* addSignatures(run, means)
}

const addSignatures = async function* (
  run: readonly LoadedBlock[],
  { node, signed, signal, isLost }: Parameters<typeof streamArchivedBlocks>[1],
): AsyncGenerator<ArchivedBlock> {
  const [from, to] = [run[0]?.block.height, run.at(-1)?.block.height]
  if (from === undefined || to === undefined) return
  const heads = signed && node !== undefined ? await node.heads({ from, to }, signal) : []
  for (const [at, loaded] of run.entries()) {
    const { block, systemCode: code } = loaded
    const head = heads[at]
    if (head !== undefined && headHash(head) !== block.hash)
      throw new Failure(
        'bad_block',
        `Block ${block.height}: its hash is ${block.hash}, the head from the node has ${headHash(head)}.`,
      )
    const raw = isLost(loaded) || (signed && namesKeySilently(block)) ? await rawBlock(node, block, signal) : undefined
    yield { block, sign: head?.sign, raw, code }
  }
}

/** The raw form from the node. It must match the block, because a load from the archive proves the block by it. */
async function rawBlock(node: Node | undefined, block: Block, signal: AbortSignal): Promise<Uint8Array> {
  const { height, hash } = block
  const answer = await node?.get(`/getRawBlockByNumber/${height}/true`, { signal })
  answer?.release()
  if (answer?.status === 200) {
    const raw = decodeRawBlock(decodeChainText(answer.body))
    if (headHash(raw.head) !== hash)
      throw new Failure(
        'bad_block',
        `Block ${height}: its hash is ${hash}, the raw block from the node has ${headHash(raw.head)}.`,
        { details: { height } },
      )
    // Genesis has no signatures, so no raw form proves its texts. Lost bytes may be in texts that only the
    // receipts prove.
    if (height > 0 && namesKeySilently(block)) checkWhole(block, raw)
    return answer.body
  }
  throw new Failure('unavailable', `Block ${height} can only be proved by its raw form, which is not available.`, {
    help: 'Set a node that returns raw blocks with --node.',
    // A node that cannot provide the block answers 400; any other status may be temporary.
    retryable: answer !== undefined && answer.status !== 400,
  })
}

/**
 * The blocks of a source that is asked again, from behind the last block that came, after failures that may pass, with the
 * pauses of a load. Throws any other failure, and 'unavailable' when none came for `waitMs`.
 */
export const retriedBlocks = (
  blocks: Writing['source'],
  {
    waitMs,
    clock,
    log,
    signal,
  }: {
    /** Time without a block after which the last failure counts as lasting, milliseconds. */
    readonly waitMs: number
    readonly clock: Pick<Clock, 'elapsed' | 'sleep' | 'random'>
    readonly log: Log
    /** Ends the pauses. */
    readonly signal: AbortSignal
  },
): Writing['source'] =>
  async function* (from, before): AsyncGenerator<ArchivedBlock> {
    let [next, parent] = [from, before]
    let [failures, since] = [0, clock.elapsed()]
    const waitAfter = async (error: unknown): Promise<void> => {
      if (signal.aborted || !isTransient(error, undefined)) throw error
      if (clock.elapsed() - since > waitMs) throw retriesExhausted(error, 'written')
      failures += 1
      await pauseAfterFailure(error, { doing: 'Writing', attempt: failures, height: next - 1 }, { log, clock, signal })
    }
    while (!signal.aborted)
      try {
        for await (const archived of blocks(next, parent)) {
          failures = 0
          next = archived.block.height + 1
          parent = archived.block.hash
          yield archived
          since = clock.elapsed()
        }
        return
      } catch (error) {
        await waitAfter(error)
      }
  }

export const archiveWrite: Command = {
  name: 'archive write',
  words: ['FOLDER'],
  summary: 'write blocks into files that prove themselves',
  about: [
    'Writes irreversible blocks into FOLDER: files of --blocks-per-file blocks each, and manifest.json, which lists them with their hashes. A further run continues after the last file; files that are written are never changed. While the node or the store is unreachable, the command waits and retries; it ends with exit code 75 when no block arrived for --wait. Only complete files are written, unless --to names the last block.',
    'Blocks come from --node, or with --store from a store; signatures, which a store does not keep, then come from the node. An archive without signatures (--prove linked) is for test networks: it can only be loaded with --prove linked.',
    'Archives of the same blocks have the same content. Load an archive with --node archive:FOLDER, or archive:URL where a web server publishes it.',
  ],
  settings: [...NODE, ...STORE, 'from', 'to', 'blocks-per-file', 'wait', ...LOGGING],
  examples: [
    'iostlens archive write /archive --node http://127.0.0.1:30001',
    'iostlens archive write /archive --store sqlite:data/iostlens.sqlite --node http://127.0.0.1:30001',
  ],
  run: async call => {
    const { values, log } = call
    const { prove = USUAL_LEVEL } = values
    const { 'blocks-per-file': each = CHUNK_BLOCKS } = values
    if (each % CHUNK_BLOCKS !== 0)
      throw new Failure('usage', `--blocks-per-file ${each} is not a multiple of ${CHUNK_BLOCKS}.`)
    if (prove === 'whole')
      throw new Failure(
        'usage',
        '--prove whole is not possible: an archive has raw blocks only where nothing else proves a block.',
      )
    using node = connectNode(values, log)
    if (values.store === undefined) return await writeFromSource(call, await openNodeSource(node, prove, call))
    return await withStore({ values, log }, async store => {
      await requireExisting(store)
      await requireUsable(store)
      return writeFromSource(call, await openStoreSource(store, { node, proof: prove }, call))
    })
  },
}

/** The source of the blocks: their chain, and the last block available. */
type From = {
  readonly of: Omit<ArchiveOf, 'blocks_per_file'>
  readonly last: number
  readonly blocks: (range: Parameters<typeof nodeBlocks>[1]) => AsyncIterable<ArchivedBlock>
}

async function openNodeSource(
  node: Node | undefined,
  proof: ArchiveOf['proof'],
  { signal }: CommandCall,
): Promise<From> {
  if (node === undefined)
    throw new Failure('usage', "Command 'archive write' needs a node or a store.", {
      help: 'Set --node URL, such as http://127.0.0.1:30001, or --store.',
    })
  const { chainId, genesis, libBlock } = await fetchChain(node, signal)
  return {
    of: { chain_id: chainId, genesis_hash: genesis, proof },
    last: libBlock,
    blocks: range => nodeBlocks(node, range, { lib: libBlock, signed: proof === 'signed' }),
  }
}

async function openStoreSource(
  store: Store,
  { node, proof }: { readonly node: Node | undefined; readonly proof: ArchiveOf['proof'] },
  { signal }: CommandCall,
): Promise<From> {
  const [identity, published] = [await store.identity(), await store.published()]
  if (identity === undefined || published === undefined)
    throw new Failure('loading', `Nothing is loaded in ${store.name}.`, { retryable: false })
  if (proof === 'signed' && node === undefined)
    throw new Failure('usage', 'The signatures of blocks are not stored; they come from a node.', {
      help: 'Set --node URL. (--prove linked writes an archive without signatures.)',
    })
  if (node !== undefined) await requireChain(node, identity, signal)
  return {
    of: { chain_id: identity.chainId, genesis_hash: identity.genesis, proof },
    last: published.height,
    blocks: range => storeBlocks(store, range, { node, signed: proof === 'signed' }),
  }
}

async function writeFromSource({ values, words, signal, out, screen, log }: CommandCall, from: From): Promise<0> {
  const [folder = ''] = words
  const path = resolve(folder)
  const each = values['blocks-per-file'] ?? (await readBlocksPerFile(path)) ?? 10_000
  const of = { ...from.of, blocks_per_file: each }
  // Only complete files by default: a shorter last file would have to be changed later.
  const requestedEnd = parseToHeight(values)
  const to = requestedEnd ?? Math.floor((from.last + 1) / each) * each - 1
  if (requestedEnd !== undefined && requestedEnd < values.from)
    throw new Failure('usage', `--from ${values.from} is above --to ${requestedEnd}.`)
  if (to > from.last) throw new Failure('usage', `--to ${to} is above the last irreversible block, ${from.last}.`)
  const look = stageProgress({ screen, log }, { bar: 'Writing', log: 'Wrote blocks into the archive.' })
  const retried = retriedBlocks((next, parent) => from.blocks({ from: next, to, parent, signal }), {
    waitMs: values.wait,
    clock: systemClock,
    log,
    signal,
  })
  const manifest = await writeArchive(path, of, {
    from: values.from,
    to,
    onWritten: ({ height, name }) => log('debug', 'Wrote a file of the archive.', { name, height }),
    source: async function* (first, parent) {
      for await (const archived of retried(first, parent)) {
        look({ stage: 'blocks', done: archived.block.height - first + 1, of: to - first + 1 })
        yield archived
      }
    },
  })
  screen.bar('')
  if (signal.aborted) throw new Failure('deadline', 'Stopped before everything was written; run it again to continue.')
  const endOfFirst = (Math.floor(values.from / each) + 1) * each - 1
  out(
    manifest === undefined
      ? `No file is complete yet: the first one needs block ${endOfFirst}. --to HEIGHT writes a shorter one.`
      : `The archive ${path} has blocks ${manifest.files[0]?.from} to ${manifest.height} in ${manifest.files.length} files.`,
  )
  return 0
}
