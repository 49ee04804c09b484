import type { Block } from '#chain/block.ts'
import { RUN_LENGTH, runId, transactionRuns, withStretch } from '#indices/transaction-run.ts'
import { isBase } from './block-document.ts'
import { missTogether, type State } from './state.ts'

/**
 * Adds a block's transactions, base ones left out, to the runs of all; `before` is how many there were. Comes first in a
 * block: which runs they belong to only the state tells, and nothing has been derived yet where it was not fetched.
 */
export const addToRuns = (state: State, block: Block, before: number): void => {
  const { height, transactions } = block
  const base = isBase(block, 0) ? 1 : 0
  const puts: (() => void)[] = []
  for (let done = 0, of = transactions.length - base; done < of; ) {
    const number = before + done
    const id = runId(Math.floor(number / RUN_LENGTH))
    const stretch = {
      height,
      first: base + done,
      count: Math.min(of - done, RUN_LENGTH - (number % RUN_LENGTH)),
    }
    puts.push(() => {
      const run = state.get(transactionRuns, id) ?? { blocks: [] }
      state.put(transactionRuns, { id, blocks: withStretch(run, stretch) })
    })
    done += stretch.count
  }
  missTogether(puts)
}
