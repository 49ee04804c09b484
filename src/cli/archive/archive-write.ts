import { resolve } from 'node:path'
import type { ArchivedBlock } from '#archive/block-lines.ts'
import { CHUNK_BLOCKS } from '#archive/chunk.ts'
import { type ArchiveOf, readBlocksPerFile, writeArchive } from '#archive/write.ts'
import { requireStored } from '#audit/node-chain.ts'
import { USUAL_LEVEL } from '#chain/proof.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Identity, Store } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import type { Command, CommandCall } from '../command.ts'
import { connectNode, requireExisting, requireUsable, withStore } from '../compose.ts'
import { parseToHeight } from '../height-of.ts'
import { stageProgress } from '../progress.ts'
import { LOGGING, NODE, STORE } from '../settings.ts'
import { nodeBlocks, storeBlocks } from './archived-blocks.ts'
import { retriedBlocks } from './retried-blocks.ts'

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
    if (prove === 'whole') throw new Failure('usage', '--prove whole is not possible: an archive has no raw blocks.')
    const node = connectNode(values, log)
    try {
      if (values.store === undefined) return await written(call, await fromNode(node, prove, call))
      return await withStore(values, log, async store => {
        await requireExisting(store)
        await requireUsable(store)
        return written(call, await fromStore(store, { node, proof: prove }, call))
      })
    } finally {
      node?.close()
    }
  },
}

/** Blocks in a complete file of a new archive. */
const BLOCKS_PER_FILE = 10_000

type Level = ArchiveOf['proof']

/** The node, for data that the store does not contain, and the level of proof. */
type WriteOptions = { readonly node: Node | undefined; readonly proof: Level }

/** The source of the blocks: their chain, and the last block available. */
type From = {
  readonly of: Omit<ArchiveOf, 'blocks_per_file'>
  readonly last: number
  readonly blocks: (range: Parameters<typeof nodeBlocks>[1]) => AsyncIterable<ArchivedBlock>
}

async function fromNode(node: Node | undefined, proof: Level, { signal }: CommandCall): Promise<From> {
  if (node === undefined)
    throw new Failure('usage', "Command 'archive write' needs a node or a store.", {
      help: 'Set --node URL, such as http://127.0.0.1:30001, or --store.',
    })
  const { chainId, libBlock } = await node.chainInfo(signal)
  const genesis = await node.blockHash(0, signal)
  if (genesis === undefined) throw new Failure('unavailable', `The node ${node.name} has no irreversible block 0.`)
  return {
    of: { chain_id: chainId, genesis_hash: genesis, proof },
    last: libBlock,
    blocks: range => nodeBlocks(node, range, { lib: libBlock, signed: proof === 'signed' }),
  }
}

async function fromStore(store: Store, { node, proof }: WriteOptions, { signal }: CommandCall): Promise<From> {
  const [identity, published] = [await store.identity(), await store.published()]
  if (identity === undefined || published === undefined)
    throw new Failure('loading', `Nothing is loaded in ${store.name}.`, { retryable: false })
  if (proof === 'signed' && node === undefined)
    throw new Failure('usage', 'The signatures of blocks are not stored; they come from a node.', {
      help: 'Set --node URL. (--prove linked writes an archive without signatures.)',
    })
  if (node !== undefined) await requireSameChain(node, identity, signal)
  return {
    of: { chain_id: identity.chainId, genesis_hash: identity.genesis, proof },
    last: published.height,
    blocks: range => storeBlocks(store, range, { node, signed: proof === 'signed' }),
  }
}

/** Throws as `requireStored` unless the node serves the chain of the store. */
async function requireSameChain(node: Node, stored: Identity, signal: AbortSignal): Promise<void> {
  const { chainId } = await node.chainInfo(signal)
  const genesis = (await node.blockHash(0, signal)) ?? stored.genesis
  requireStored({ chainId, genesis }, stored)
}

/** The last block of the file that a block is in. */
const endOfFile = (height: number, each: number): number => (Math.floor(height / each) + 1) * each - 1

async function written({ values, words, signal, out, screen, log }: CommandCall, from: From): Promise<0> {
  const [folder = ''] = words
  const path = resolve(folder)
  const each = values['blocks-per-file'] ?? (await readBlocksPerFile(path)) ?? BLOCKS_PER_FILE
  const of = { ...from.of, blocks_per_file: each }
  // Only complete files by default: a shorter last file would have to be changed later.
  const requestedEnd = parseToHeight(values)
  const to = requestedEnd ?? Math.floor((from.last + 1) / each) * each - 1
  if (requestedEnd !== undefined && requestedEnd < values.from)
    throw new Failure('usage', `--from ${values.from} is above --to ${requestedEnd}.`)
  if (to > from.last) throw new Failure('usage', `--to ${to} is above the last irreversible block, ${from.last}.`)
  const look = stageProgress({
    ...{ screen, log, now: systemClock.elapsed },
    doing: { bar: 'Writing', log: 'Wrote blocks into the archive.' },
  })
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
  out(
    manifest === undefined
      ? `No file is complete yet: the first one needs block ${endOfFile(values.from, each)}. --to HEIGHT writes a shorter one.`
      : `The archive ${path} has blocks ${manifest.files[0]?.from} to ${manifest.height} in ${manifest.files.length} files.`,
  )
  return 0
}
