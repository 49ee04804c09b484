import type { LoadedBlock } from '#chain/block.ts'

/**
 * Blocks that one signature proves, that of the last block: it covers all blocks before it, and none of these changes
 * the accepted signing keys (such a block has a signature of its own). So the state before a segment is enough to prove
 * all of it. Blocks that need no signature, and genesis, which has none, are segments of their own.
 */
export type Segment = readonly LoadedBlock[]

/** Segments whose state is fetched with one query to the store. */
export type Run = readonly Segment[]

/** A thrown value of any type. */
export type Failed = { readonly error: unknown }

/** Number of blocks in a run, and of characters in their transactions, at which the run is long enough. */
const ENOUGH = { blocks: 200, characters: 1_000_000 }
/** The same for the first run, which is derived only after the second one has been read. */
const FIRST = { blocks: 25, characters: 125_000 }

export type Runs = {
  /**
   * The next run; undefined: there is none. Unsigned blocks at the end of the stream, or before a failure,
   * are in no run.
   */
  next(): Promise<Run | undefined>
  /** The reason why the stream ended early; undefined: it did not. */
  readonly failure: Failed | undefined
  /** Cancels the requests for blocks. */
  close(): Promise<void>
}

/** Cuts a stream of blocks into runs. */
export const readRuns = (source: AsyncIterable<LoadedBlock>): Runs => {
  const blocks = source[Symbol.asyncIterator]()
  let failure: Failed | undefined
  let enough = FIRST
  return {
    next: async () => {
      const run: Segment[] = []
      let segment: LoadedBlock[] = []
      let size = { blocks: 0, characters: 0 }
      try {
        while (size.blocks < enough.blocks && size.characters < enough.characters) {
          const { done, value: loaded } = await blocks.next()
          if (done === true) break
          segment.push(loaded)
          if (!endsSegment(loaded)) continue
          run.push(segment)
          size = {
            blocks: size.blocks + segment.length,
            characters: size.characters + segment.reduce((sum, each) => sum + charactersOf(each), 0),
          }
          segment = []
        }
      } catch (error) {
        failure = { error }
      }
      enough = ENOUGH
      return run.length > 0 ? run : undefined
    },
    get failure() {
      return failure
    },
    close: async () => void (await blocks.return?.()),
  }
}

const endsSegment = ({ block, proof }: LoadedBlock): boolean =>
  proof.signedBy !== undefined || proof.level === 'linked' || block.height === 0

const charactersOf = ({ block }: LoadedBlock): number =>
  block.transactions.reduce((sum, { body }) => sum + body.length, 0)
