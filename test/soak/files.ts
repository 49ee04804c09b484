import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { within } from './causes.ts'
import type { Episode } from './episode.ts'
import { below } from './random.ts'
import type { Stand } from './stand.ts'

/** Operations on the file of a SQLite store, like those of an operator with a backup. */

const SAYS = /file|replaced|removed|another chain|no store|nothing is loaded|gone/i

/** Suffixes of the files of a SQLite database. */
const ENDINGS = ['', '-wal', '-shm'] as const

function removeStore(path: string): void {
  for (const ending of ENDINGS) rmSync(`${path}${ending}`, { force: true })
}

function copyStore(from: string, to: string): void {
  removeStore(to)
  for (const ending of ENDINGS.toReversed())
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`)
}

/**
 * Puts a store in place atomically. Nothing writes to it meanwhile: its WAL is copied with the file, and the
 * file is renamed last.
 */
function putStore(from: string, path: string): void {
  copyStore(from, `${path}.new`)
  for (const ending of ['-wal', '-shm'] as const) {
    rmSync(`${path}${ending}`, { force: true })
    if (existsSync(`${path}.new${ending}`)) renameSync(`${path}.new${ending}`, `${path}${ending}`)
  }
  renameSync(`${path}.new`, path)
}

/** A store of a chain with another seed and the same chain id. */
async function otherChain({ run }: Stand, path: string, seed: number): Promise<void> {
  if (existsSync(path)) return
  const node = serveGenerated({ ...small('sparse', seed), blocks: 60 })
  try {
    const { code, err } = await run(['load', '--once', '--store', `sqlite:${path}`, '--node', node.url])
    if (code !== 0) throw new Error(err)
  } finally {
    await node.stop()
  }
}

/** Copies the store, lets it grow, and removes or replaces its file until the copy is put back. */
const replacing = (
  name: string,
  harm: (stand: Stand, path: string) => Promise<(() => Promise<void>) | undefined>,
): Episode => ({
  name,
  play: stand =>
    within(stand.causes, { name, statuses: [0, 503], says: SAYS }, async () => {
      const { random, loader, readers, journal, place } = stand
      const { path = '' } = place
      const goOn = await loader.hold()
      copyStore(path, `${path}.copy`)
      goOn()
      stand.grow(1 + below(random, 40))
      await stand.settled('a copy that was made')
      const again = await loader.hold()
      const onlyForth = readers.mayGoBack()
      journal.count(`${stand.name}: ${name}`)
      await (await harm(stand, path))?.()
      putStore(`${path}.copy`, path)
      stand.grow(1 + below(random, 10))
      again()
      await stand.settled('a copy that was put back')
      onlyForth()
    }),
})

export const FILES: readonly Episode[] = [
  replacing('the file is deleted, and a copy put back', async (stand, path) => {
    removeStore(path)
    return () => stand.refused(503, 'a file that was deleted')
  }),
  replacing('an older copy of the file is put into its place', async () => undefined),
  replacing('the file is replaced by a store of another chain', async (stand, path) => {
    await otherChain(stand, `${path}.other`, stand.node.chain.settings.seed + 1)
    putStore(`${path}.other`, path)
    const { code, err } = await stand.run(['load', '--once'])
    stand.journal.note(`${stand.name}: load of another chain ended with ${code}: ${err.slice(-300)}`)
    if (code === 0) stand.journal.wrong(`${stand.name}: a store of another chain was loaded on`)
    return () => stand.refused(503, 'a store of another chain')
  }),
]
