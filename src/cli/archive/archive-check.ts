import { createHash } from 'node:crypto'
import { textOf } from '#archive/block-lines.ts'
import { damagedFile, MAGIC } from '#archive/chunk.ts'
import type { ArchiveFile } from '#archive/manifest.ts'
import { type Archive, openArchive } from '#archive/reader.ts'
import { Failure } from '#failure/failure.ts'
import { ARCHIVE, archiveNode } from '#node/archive-node.ts'
import { systemClock } from '#time/clock.ts'
import { auditProgress } from '../audit-progress.ts'
import type { Call, Command } from '../command.ts'
import { LOGGING } from '../setting-groups.ts'
import { provingThreads } from '../threads/loading-threads.ts'

export const archiveCheck: Command = {
  name: 'archive check',
  words: ['FOLDER'],
  summary: 'prove every block of an archive, without a store; exit code 3 if anything is wrong',
  about: [
    'Reads every byte of an archive (a folder, or an http:// or https:// URL) and proves each block: its hash, its parent, the merkle roots of its transactions and receipts, and the signatures, as far as the archive was written with them. Hashes of files are compared with the manifest.',
    'Whose signatures count follows from the chain itself; a load checks that too.',
    'The first thing that is wrong ends the check with its file and block, and exit code 3.',
  ],
  settings: ['prove', 'threads', ...LOGGING],
  examples: ['iostlens archive check /archive', 'iostlens archive check https://archive.example/iost'],
  run: async call => {
    const { words, out } = call
    const [location = ''] = words
    const archive = await openArchive(location.replace(new RegExp(`^${ARCHIVE}`), ''))
    const level = call.values.prove ?? archive.manifest.proof
    await checkFiles(archive, call)
    await prove(archive, level, call)
    const { files, height, hash } = archive.manifest
    const blocks = `blocks ${files[0]?.from} to ${height} in ${files.length} files`
    out(`${archive.folder.name}: ${blocks}, all proved (${level}). Hash of the last block: ${hash}`)
    return 0
  },
}

const progressOf = ({ screen, log }: Call) =>
  auditProgress({
    ...{ screen, log, now: systemClock.elapsed },
    doing: { bar: 'Checking', log: 'Checked an archive.' },
  })

/** Compares each file, byte by byte, with what the manifest says of it. */
const checkFiles = async (archive: Archive, call: Call): Promise<void> => {
  const { files } = archive.manifest
  const look = progressOf(call)
  for (const [done, file] of files.entries()) {
    stopIf(call.signal)
    look({ stage: 'files', done, of: files.length })
    await checkFile(archive, file)
  }
}

/** Bytes read at once. */
const PART = 8 * 1024 * 1024

const checkFile = async (archive: Archive, file: ArchiveFile): Promise<void> => {
  const { folder } = archive
  const where = `${folder.name}/${file.name}`
  const hash = createHash('sha256')
  for (let at = 0; at < file.bytes; at += PART) {
    const part = await folder.bytes(file.name, at, Math.min(file.bytes, at + PART))
    if (at === 0 && Buffer.from(part.subarray(0, MAGIC.length)).toString() !== MAGIC)
      throw damagedFile(where, 'it does not begin as a file of blocks does')
    hash.update(part)
  }
  if (hash.digest('hex') !== file.sha256)
    throw damagedFile(where, 'it does not have the hash in the manifest')
  const content = createHash('sha256')
  for (let next = file.from; next <= file.to; ) {
    const found = await archive.chunkAt(next)
    if (found === undefined) throw damagedFile(where, `its table lacks block ${next}`)
    content.update(textOf(await archive.blocks(next, found.chunk.to)))
    next = found.chunk.to + 1
  }
  if (content.digest('hex') !== file.content_sha256)
    throw damagedFile(where, 'its blocks do not have the hash in the manifest')
}

const prove = async (archive: Archive, level: 'linked' | 'signed' | 'whole', call: Call): Promise<void> => {
  const { values, provingProgram, signal } = call
  const { files, height, hash, chain_id, genesis_hash } = archive.manifest
  const from = files[0]?.from ?? 0
  const node = archiveNode(archive.folder.name, undefined, {
    prove: level,
    threads: provingThreads(values, provingProgram),
  })
  const look = progressOf(call)
  let last = ''
  try {
    for await (const { block } of node.blocks({ from, to: height, prove: level, signal })) {
      last = block.hash
      if (block.height === 0 && block.hash !== genesis_hash)
        throw notSaid(archive, 'genesis_hash', block.hash)
      const other = block.transactions.find(({ chainId }) => chainId !== 0 && chainId !== chain_id)
      if (other !== undefined) throw notSaid(archive, 'chain_id', String(other.chainId))
      look({ stage: 'blocks', done: block.height - from + 1, of: height - from + 1 })
    }
  } catch (error) {
    stopIf(signal)
    throw error
  } finally {
    node.close()
    call.screen.bar('')
  }
  if (last !== hash) throw notSaid(archive, 'hash', last)
}

const notSaid = ({ folder }: Archive, name: string, found: string): Failure =>
  new Failure('damaged', `${folder.name}/manifest.json: ${name} is not that of its blocks, ${found}.`)

const stopIf = (signal: AbortSignal): void => {
  if (signal.aborted) throw new Failure('deadline', 'Stopped before everything was checked.')
}
