import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST, readManifest } from '#archive/format.ts'
import { readFileSize } from './place.ts'
import { BINARY, ROOT, runCommand, startServer } from './processes.ts'
import type { TableRow } from './report.ts'

export const CHAINS = ['busy', 'sparse', 'recorded'] as const

/** A chain that is loaded from an archive. */
export type Chain = {
  readonly name: (typeof CHAINS)[number]
  /** Folder of the archive. */
  readonly archive: string
  /** Height of the last block. */
  readonly last: number
  /** Account with a long list of rows. */
  readonly hub: string
  /** Token with many holders. */
  readonly token: string
}

/** `isUsed`: whether a scenario reads the chain. */
type ChainSize = { readonly blocks: number; readonly holders: number; readonly isUsed: boolean }

/** The height after which everything that moved is back: short, so that the same objects are read repeatedly. */
const CYCLE = 8_192

/** Writes the archive of a generated chain, or continues it; the recorded chain has one. */
export async function prepareChain(
  folder: string,
  name: Chain['name'],
  { blocks, holders, isUsed }: ChainSize,
): Promise<{ readonly chain: Chain; readonly cost?: TableRow }> {
  if (name === 'recorded') {
    const archive = join(ROOT, 'test/chain/devnet/archive')
    const last = await readArchiveHeight(archive)
    return { chain: { name, archive, last, hub: 'busyhub', token: 'iost' } }
  }
  const archive = join(folder, `${name}-archive`)
  const chain: Chain = { name, archive, last: blocks, hub: 'busy_hub', token: 'coin' }
  const before = await readArchiveHeight(archive)
  if (before >= blocks || !isUsed) return { chain }
  const voters = Math.ceil(holders / 10)
  const size = { profile: name, holders, voters, cycle: CYCLE, blocks }
  const flags = Object.entries(size).flatMap(([flag, value]) => [`--${flag}`, `${value}`])
  const node = await startServer(folder, [join(ROOT, 'scripts/generate-chain'), ...flags])
  const write = ['archive', 'write', archive, '--node', node.url, '--to', `${blocks}`]
  const { seconds, cpu, peak } = await runCommand(folder, [BINARY, ...write])
  await node.stop()
  const bytes = readdirSync(archive).reduce((sum, file) => sum + readFileSize(join(archive, file)), 0)
  return {
    chain,
    cost: {
      blocks: blocks - before,
      seconds,
      'CPU s': cpu,
      'peak MB': peak,
      MB: bytes / 1e6,
      'bytes a block': bytes / (blocks + 1),
    },
  }
}

/** The last block of an archive; −1: there is none. */
async function readArchiveHeight(path: string): Promise<number> {
  const manifest = Bun.file(join(path, MANIFEST))
  return (await manifest.exists()) ? readManifest(await manifest.text(), path).height : -1
}
