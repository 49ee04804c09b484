import type { LoadedBlock } from '#chain/block.ts'

/**
 * Blocks that one signature proves, that of the last: it covers all blocks before it, and none of these changes whose keys
 * count (such a block has a signature itself). So the state before a segment is enough to prove all of it. Blocks that
 * need no signature, and genesis, which has none, are segments of their own.
 */
export type Segment = readonly LoadedBlock[]

/** Segments whose state is fetched with one question to the store. */
export type Run = readonly Segment[]

/** Something that was thrown, whatever it is. */
export type Failed = { readonly error: unknown }

/** Blocks of a run, and characters of their transactions, from which on it is long enough. */
const ENOUGH = { blocks: 200, characters: 1_000_000 }
/** The same of the first run: it is derived when the second one is there, too. */
const FIRST = { blocks: 25, characters: 125_000 }

export type Runs = {
  /**
   * The next run; undefined: there is none. Blocks without a signature at the end of the blocks, or before a failure, are
   * in no run.
   */
  next(): Promise<Run | undefined>
  /** Why the blocks ended early; undefined: they did not. */
  readonly failure: Failed | undefined
  /** Ends the requests for blocks. */
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
