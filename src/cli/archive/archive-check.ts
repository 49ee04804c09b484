import { openArchive } from '#archive/reader.ts'
import { ARCHIVE } from '#node/archive-node.ts'
import { systemClock } from '#time/clock.ts'
import type { Command } from '../command.ts'
import { stageProgress } from '../progress.ts'
import { LOGGING } from '../settings.ts'
import { provingThreads } from '../threads/loading-threads.ts'
import { checkArchive } from './check-archive.ts'

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
    const { values, provingProgram, screen, log, signal } = call
    try {
      await checkArchive(archive, {
        location,
        level,
        signal,
        threads: provingThreads(values, provingProgram),
        onProgress: stageProgress({
          ...{ screen, log, now: systemClock.elapsed },
          doing: { bar: 'Checking', log: 'Checked an archive.' },
        }),
      })
    } finally {
      screen.bar('')
    }
    const { files, height, hash } = archive.manifest
    const blocks = `blocks ${files[0]?.from} to ${height} in ${files.length} files`
    out(`${archive.folder.name}: ${blocks}, all proved (${level}). Hash of the last block: ${hash}`)
    return 0
  },
}
