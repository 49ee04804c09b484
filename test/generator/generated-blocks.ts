import type { LoadedBlock } from '#chain/block.ts'
import { createNode } from '#node/archive-node.ts'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { serveGenerated } from './serve.ts'
import { small } from './small.ts'

/** The first blocks of a generated chain of mixed content, in the form in which a loader receives them. */
export async function generatedBlocks(count = 600): Promise<readonly LoadedBlock[]> {
  const node = serveGenerated({ ...small('mixed'), blocks: count })
  const reader = createNode({ urls: [node.url], clock: idleClock() })
  try {
    const blocks: LoadedBlock[] = []
    for await (const block of reader.blocks({ from: 0, to: count })) blocks.push(block)
    return blocks
  } finally {
    reader.close()
    await node.stop()
  }
}
