import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ArchivedBlock, ArchiveManifest } from '#archive/format.ts'
import { openArchive } from '#archive/reader.ts'
import { type ArchiveOf, writeArchive } from '#archive/write.ts'
import { checkArchive, nodeBlocks } from '#cli/archive/write.ts'
import { createNode } from '#node/archive-node.ts'

export const EACH = 200

type Writing = {
  readonly to: number
  readonly from?: number
  readonly proof?: ArchiveOf['proof']
  readonly source?: (blocks: AsyncIterable<ArchivedBlock>) => AsyncIterable<ArchivedBlock>
}

export async function archiveOfNode(
  url: string,
  folder: string,
  { to, from = 0, proof = 'signed', source = blocks => blocks }: Writing,
): Promise<ArchiveManifest | undefined> {
  const node = createNode({ urls: [url] })
  try {
    const { chainId, libBlock: lib } = await node.chainInfo()
    const genesis = (await node.blockHash(0)) ?? ''
    const of = { chain_id: chainId, genesis_hash: genesis, proof, blocks_per_file: EACH }
    return await writeArchive(folder, of, {
      from,
      to,
      onWritten: () => undefined,
      source: first =>
        source(nodeBlocks(node, { from: first, to, signal: NEVER }, { lib, signed: proof === 'signed' })),
    })
  } finally {
    node.close()
  }
}

const NEVER = new AbortController().signal

/** `archive check` without threads. Throws the first error. */
export async function check(location: string): Promise<void> {
  const archive = await openArchive(location)
  await checkArchive(archive, { location, level: archive.manifest.proof, signal: NEVER, onProgress: () => undefined })
}

export const filesIn = async (folder: string): Promise<ReadonlyMap<string, Buffer>> =>
  new Map(
    await Promise.all(
      (await readdir(folder)).sort().map(async name => [name, await readFile(join(folder, name))] as const),
    ),
  )
