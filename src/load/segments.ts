import type { LoadedBlock } from '#chain/block.ts'

/**
 * Cuts a stream of blocks after each one with a signature: a signature covers all blocks before it, and none of these
 * changes whose keys count (such a block has a signature itself). So the state before a segment is enough to prove all of
 * it. Blocks that need no signature, and genesis, which has none, are segments of their own. Blocks without a signature
 * at the end of the stream are dropped.
 */
export async function* segments(
  blocks: AsyncIterable<LoadedBlock>,
): AsyncGenerator<readonly LoadedBlock[], void, void> {
  let segment: LoadedBlock[] = []
  for await (const loaded of blocks) {
    segment.push(loaded)
    if (!endsSegment(loaded)) continue
    yield segment
    segment = []
  }
}

const endsSegment = ({ block, proof }: LoadedBlock): boolean =>
  proof.signedBy !== undefined || proof.level === 'linked' || block.height === 0
