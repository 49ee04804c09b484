import { joinSignals } from '#time/signals.ts'
import { fetchBlock, fetchBlocks, misfit } from './fetch-blocks.ts'
import type { Fetching } from './fetching.ts'
import { endedByCaller } from './http.ts'
import type { Proven } from './prove-blocks.ts'

export type StreamOptions = {
  readonly from: number
  readonly to: number
  /** Hash of block `from` − 1. */
  readonly parent?: string
  /** Ranges in flight: with the answers' size limit it bounds the bytes held. */
  readonly inFlight: number
}

/**
 * Blocks in order, several ranges asked for ahead. A block is handed on when it is the child of the one before; if it
 * is not, it is asked for again by itself at every node, then the stream throws Failure 'bad_block'. Leaving the loop
 * early ends the requests.
 */
export async function* blockStream(
  given: Fetching,
  { from, to, parent, inFlight }: StreamOptions,
): AsyncGenerator<Proven, void, void> {
  const { signal } = given.asking
  const ends = joinSignals(signal)
  const fetching: Fetching = { ...given, asking: { ...given.asking, signal: ends.signal } }
  const ahead: Promise<readonly Proven[]>[] = []
  let next = from
  let previous: Proven | undefined
  try {
    while (ahead.length > 0 || next <= to) {
      while (ahead.length < inFlight && next <= to) {
        const last = Math.min(to, next + fetching.size.next() - 1)
        const range = fetchBlocks(fetching, { from: next, to: last, ends: last === to })
        // Its failure is thrown when its turn comes; until then it must not count as unhandled.
        range.catch(() => undefined)
        ahead.push(range)
        next = last + 1
      }
      for (const block of (await ahead.shift()) ?? []) {
        previous = await child(fetching, block, { previous, parent })
        yield previous
        if (signal.aborted) throw endedByCaller(signal)
      }
    }
  } finally {
    ends.abort('left')
    ends.release()
  }
}

/** What came before a block: the block itself, or at the beginning of the stream its hash, if that is known. */
type Before = { readonly previous: Proven | undefined; readonly parent: string | undefined }

const child = async (fetching: Fetching, proven: Proven, { previous, parent }: Before): Promise<Proven> => {
  const { block } = proven
  const fits =
    previous === undefined
      ? parent === undefined || block.parentHash === parent
      : misfit(previous.block, block) === undefined
  if (fits) return proven
  const again = await fetchBlock(fetching, block.height, previous?.block.hash ?? parent)
  const wrong = previous === undefined ? undefined : misfit(previous.block, again.block)
  if (wrong !== undefined) throw wrong
  return again
}
