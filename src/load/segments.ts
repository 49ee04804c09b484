import type { LoadedBlock } from '#chain/block.ts'

/**
 * Blocks that one signature proves, that of the last block: it covers all blocks before it, and none of these changes
 * the accepted signing keys (such a block has a signature of its own). So the state before a segment is enough to prove
 * all of it. Blocks that need no signature, and genesis, which has none, are segments of their own.
 */
export type ProofSegment = readonly LoadedBlock[]

/** A thrown value of any type. */
export type Failed = { readonly error: unknown }

export type Segments = {
  /**
   * The next segment; undefined: there is none. Unsigned blocks at the end of the stream, or before a failure, are in no
   * segment.
   */
  next(): Promise<ProofSegment | undefined>
  /** The reason why the stream ended early; undefined: it did not. */
  readonly failure: Failed | undefined
  /** Cancels the requests for blocks. */
  close(): Promise<void>
}

/** Cuts a stream of blocks into segments. */
export function readSegments(source: AsyncIterable<LoadedBlock>): Segments {
  const blocks = source[Symbol.asyncIterator]()
  let failure: Failed | undefined
  return {
    next: async () => {
      const segment: LoadedBlock[] = []
      try {
        for (;;) {
          const { done, value: loaded } = await blocks.next()
          if (done === true) return undefined
          segment.push(loaded)
          if (endsSegment(loaded)) return segment
        }
      } catch (error) {
        failure = { error }
        return undefined
      }
    },
    get failure() {
      return failure
    },
    close: async () => void (await blocks.return?.()),
  }
}

function endsSegment({ block, proof }: LoadedBlock): boolean {
  return proof.signedBy !== undefined || proof.level === 'linked' || block.height === 0
}
