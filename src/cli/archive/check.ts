import { createHash } from 'node:crypto'
import { joinBlockLines } from '#archive/block-lines.ts'
import { type ArchiveFile, damagedFile, MAGIC } from '#archive/format.ts'
import { type Archive, openArchive } from '#archive/reader.ts'
import type { ProofLevel } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { ARCHIVE, type ArchiveNodeOptions, archiveNode } from '#node/archive-node.ts'
import type { Command } from '../command.ts'
import { type Stage, stageProgress } from '../progress.ts'
import { LOGGING } from '../settings.ts'
import { withBar } from '../stop.ts'
import { provingThreads } from '../threads/loading-threads.ts'

type Checking = {
  /** Path or URL of the archive, with the user and password of a URL. */
  readonly location: string
  readonly level: ProofLevel
  readonly signal: AbortSignal
  readonly threads?: ArchiveNodeOptions['threads']
  readonly onProgress: (at: Stage) => void
}

/** Reads every byte of an archive and proves every block. Throws 'damaged' with the file of the first fault. */
export async function checkArchive(archive: Archive, checking: Checking): Promise<void> {
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
  { location, level, threads, onProgress, signal }: Checking,
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
