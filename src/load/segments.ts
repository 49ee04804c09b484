import type { LoadedBlock } from '#chain/block.ts'

/**
 * Cuts a stream of blocks behind each that carries a signature: a signature covers all blocks before it, and of these none
 * changes whose keys count (such a block carries one itself). So a whole segment is proved by the state before it. Blocks
 * that need no signature, and genesis, which has none, are segments of their own. What a stream that ends or fails leaves
 * without a signature is not given.
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
