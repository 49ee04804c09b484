import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST, readManifest } from '#archive/manifest.ts'
import { BINARY, running, serving } from '../processes.ts'
import { archiveOf, bytesIn, type Place } from './place.ts'
import { peakOf, type Row } from './row.ts'

const GENERATOR = join(import.meta.dir, '../../../test/generator/main.ts')

/** The size of a chain. */
export type Size = { readonly blocks: number; readonly holders: number }

/** Writes the archive of a chain, or continues it, from a node in a process of its own. */
export const archiveRows = async (place: Place, { blocks, holders }: Size): Promise<readonly Row[]> => {
  const { folder, chain } = place
  const world = ['--holders', `${holders}`, '--voters', `${Math.ceil(holders / 10)}`, '--cycle', '8192']
  const of = ['--profile', chain, ...world, '--blocks', `${blocks}`]
  const node = await serving(folder, [process.execPath, GENERATOR, ...of])
  try {
    const path = archiveOf(place)
    const before = await heightOf(path)
    const write = ['archive', 'write', path, '--node', node.url, '--to', `${blocks}`]
    const { seconds, cpu, memory } = await running(folder, [BINARY, ...write])
    const bytes = readdirSync(path).reduce((all, name) => all + bytesIn(join(path, name)), 0)
    return [
      {
        step: 'archive write',
        count: blocks - before,
        of: 'blocks',
        seconds,
        cpu,
        ...peakOf(memory),
      },
      { step: 'archive', count: blocks + 1, of: 'blocks', bytes },
    ]
  } finally {
    await node.stop()
  }
}

/** The last block of an archive that an earlier run has written; −1: none. */
const heightOf = async (path: string): Promise<number> => {
  const manifest = Bun.file(join(path, MANIFEST))
  return (await manifest.exists()) ? readManifest(await manifest.text(), path).height : -1
}
