import { archiveAnswers } from '#archive/answers.ts'
import { type Archive, openArchive } from '#archive/reader.ts'
import type { LoadedBlock } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { parseEndpoint } from './http.ts'
import type { Node } from './port.ts'
import { type RpcNodeOptions, rpcNode } from './rpc-node.ts'

/** Prefix that marks an archive in a list of node URLs. */
export const ARCHIVE = 'archive:'

/** Minimum time between checks of an archive for added files, in milliseconds. */
const LOOK_MS = 30_000

/** Options of a node whose blocks come from an archive. */
export type ArchiveNodeOptions = Omit<RpcNodeOptions, 'endpoints' | 'rangeEnd'>

type Blocks = Parameters<Node['blocks']>[0]

/**
 * An archive of blocks as a node of its chain. With `live`, those nodes answer everything that the archive
 * lacks. Blocks of the archive are proved like those of a node. A fault in the archive throws Failure
 * 'damaged' with the name of the file. No live node is asked instead, since the user who set the archive
 * wants to know. The first question opens the archive.
 */
export function archiveNode(location: string, live: Node | undefined, options: ArchiveNodeOptions): Node {
  const opened = createArchiveOpener(location, options.clock ?? systemClock)
  const name = `${ARCHIVE}${location.replace(/\/\/[^/@]*@/, '//')}`
  const own = rpcNode({
    ...options,
    endpoints: [
      { name, base: '', headers: {}, answers: async (call, most) => archiveAnswers(await opened())(call, most) },
    ],
    rangeEnd: async from => (await (await opened()).chunkAt(from))?.chunk.to ?? from,
  })
  const has = async (height: number): Promise<boolean> => {
    const { manifest } = await opened()
    return height <= manifest.height && height >= (manifest.files[0]?.from ?? 0)
  }
  const close = (): void => {
    own.close()
    live?.close()
  }
  const blocks = async function* (range: Blocks): AsyncGenerator<LoadedBlock> {
    const archive = await opened()
    const { height } = archive.manifest
    let { from, parent } = range
    if (await has(from)) {
      for await (const loaded of archivedBlocks(own, archive, { ...range, to: Math.min(range.to, height) })) {
        parent = loaded.block.hash
        yield loaded
      }
      from = Math.min(range.to, height) + 1
    }
    if (from > range.to) return
    if (live === undefined)
      throw new Failure(
        'unavailable',
        `The archive ${archive.folder.name} does not have block ${from}: it has blocks ${archive.manifest.files[0]?.from} to ${height}.`,
        { help: 'Set a node behind the archive: --node archive:DIR,http://NODE:30001.', retryable: false },
      )
    yield* live.blocks({ ...range, from, parent })
  }
  /** An archive that begins later says which chain it is of. Whoever then asks it for block 0 is told that it has none. */
  const blockHash: Node['blockHash'] = async (height, signal) =>
    height === 0 && !(await has(0)) ? (await opened()).manifest.genesis_hash : own.blockHash(height, signal)
  if (live === undefined) return { ...own, blocks, close, blockHash }
  return {
    ...live,
    name: `${name}, ${live.name}`,
    blocks,
    close,
    blockHash: async (height, signal) => ((await has(height)) ? own : live).blockHash(height, signal),
  }
}

/**
 * Opens the archive at the first question. Checks for added files run in the background, so a server that
 * hangs delays no question. After a file was replaced, every question is refused until the files match again.
 */
function createArchiveOpener(location: string, clock: Pick<Clock, 'now'>): () => Promise<Archive> {
  let opening: Promise<Archive> | undefined
  let lookedAt = clock.now()
  let isLooking = false
  let exchanged: Failure | undefined
  const look = async (): Promise<void> => {
    isLooking = true
    lookedAt = clock.now()
    try {
      const grown = await (await opening)?.grown()
      exchanged = undefined
      if (grown !== undefined) opening = Promise.resolve(grown)
    } catch (error) {
      // The opened files stay readable while their folder is out of reach.
      if (error instanceof Failure && error.kind === 'damaged') exchanged = error
    } finally {
      isLooking = false
    }
  }
  return async () => {
    opening ??= openArchive(location)
    // An archive that is out of reach now may return, so the next question opens it again.
    opening.catch(() => {
      opening = undefined
    })
    if (!isLooking && clock.now() - lookedAt >= LOOK_MS) void look()
    if (exchanged !== undefined) throw exchanged
    return opening
  }
}

/**
 * The blocks of an archive. Signatures are at the ends of its chunks. If the last requested block has no
 * signature, that of the next signed block covers it. No block between the two changes the accepted signers,
 * since such a block would have a signature of its own.
 */
const archivedBlocks = async function* (own: Node, archive: Archive, range: Blocks): AsyncGenerator<LoadedBlock> {
  const { to } = range
  const end = (await archive.chunkAt(to))?.chunk.to ?? to
  const lib = archive.manifest.proof === 'linked' ? archive.manifest.height : end
  let last: LoadedBlock | undefined
  try {
    for await (const loaded of own.blocks({ ...range, to: end, lib })) {
      const { block, proof } = loaded
      if (block.height < to) yield loaded
      else if (block.height === to) last = loaded
      const { signedBy } = proof
      // Genesis has no signature.
      const isCovered = to === 0 || signedBy !== undefined || block.height === end
      if (last === undefined || !isCovered) continue
      yield signedBy === undefined ? last : { ...last, proof: { ...last.proof, signedBy } }
      return
    }
  } catch (error) {
    throw addFileName(archive, error)
  }
}

/** A wrong block's error with the name of the file that contains the block; any other error unchanged. */
function addFileName(archive: Archive, error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind !== 'bad_block') return error
  const { height } = error.details
  const file = typeof height === 'number' ? archive.fileOf(height) : undefined
  return new Failure('damaged', `Archive file ${file ?? archive.folder.name}: ${error.message}`, {
    cause: error,
    details: error.details,
    help: error.help ?? 'Get the file again from where the archive is published, or use a node.',
  })
}

export type NodeOptions = ArchiveNodeOptions & {
  /** Nodes of one chain: `http(s)://[user:password@]host[:port][/path]`, at most one `archive:FOLDER-OR-URL`. */
  readonly urls: readonly string[]
}

/**
 * Combines the nodes at these URLs into one. At most one URL is an archive, `archive:` followed by a folder
 * or an http(s) URL; it is asked first for the blocks that it has. Throws Failure 'usage' for an invalid node
 * URL. Sends no request yet.
 */
export function createNode({ urls, ...options }: NodeOptions): Node {
  const [archive, ...more] = urls.filter(url => url.startsWith(ARCHIVE))
  const endpoints = urls.filter(url => !url.startsWith(ARCHIVE)).map(parseEndpoint)
  if (more.length > 0) throw new Failure('usage', 'Only one archive of blocks can be set.')
  if (archive === undefined) return rpcNode({ ...options, endpoints })
  const live = endpoints.length === 0 ? undefined : rpcNode({ ...options, endpoints })
  return archiveNode(archive.slice(ARCHIVE.length), live, options)
}
