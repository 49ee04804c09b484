import { join } from 'node:path'
import { ROOT, serving } from './processes.ts'

/** A chain that is loaded and queried. */
export type Chain = {
  /** Name of the chain, used in the names of its stores. */
  readonly name: 'sparse' | 'busy' | 'recorded'
  readonly title: string
  /** Account with a long list of rows. */
  readonly hub: string
  /** Token with many holders. */
  readonly token: string
  /** Required rate of loading in percent of the rate of a raw bulk. */
  readonly leastOfRaw: number
  /** Starts a node that serves the chain. */
  readonly start: (folder: string) => Promise<ChainNode>
}

export type ChainNode = {
  readonly url: string
  /** Height up to which blocks are loaded before the measurement begins. */
  readonly warm: number
  readonly last: number
  readonly stop: () => Promise<void>
}

/** Whether a run only tests that everything can be measured: the figures of fewer blocks are meaningless. */
export const isTrial = (blocks: number): boolean => blocks < 1_000

/** Size of a generated world, and the number of blocks loaded after its creation and before the measured ones. */
const worldOf = (name: 'sparse' | 'busy', blocks: number) => {
  if (isTrial(blocks)) return { warm: 20, holders: 200, voters: 100 }
  const holders = name === 'sparse' ? 2_000 : Math.min(50_000, Math.max(2_000, blocks * 2))
  return { warm: 200, holders, voters: 500 }
}
/**
 * Length of a cycle in blocks, after which everything that moved is back. It is short, so that the same
 * objects are read repeatedly.
 */
const CYCLE = 8_192

/** A chain of `test/generator` with `blocks` blocks after its start. */
export const generated = (name: 'sparse' | 'busy', blocks: number): Chain => ({
  name,
  title: name === 'sparse' ? 'near-empty blocks' : 'busy blocks',
  hub: 'busy_hub',
  token: 'coin',
  leastOfRaw: name === 'sparse' ? 25 : 40,
  start: async folder => {
    const { warm: more, holders, voters } = worldOf(name, blocks)
    const size = ['--holders', `${holders}`, '--voters', `${voters}`, '--cycle', `${CYCLE}`]
    const start = (last: number) =>
      serving(folder, [join(ROOT, 'scripts/generate-chain'), ...['--profile', name, ...size, '--blocks', `${last}`]])
    // Creating the world takes the same number of blocks for any length of the chain, and the node prints that number.
    const first = await start(1)
    const warm = Number(/first cycle: (\d+)/.exec(first.said)?.[1] ?? 0) + more
    await first.stop()
    const last = warm + blocks
    const { url, stop } = await start(last)
    return { url, stop, warm, last }
  },
})

/** The recorded chain of the tests. */
export const recorded: Chain = {
  name: 'recorded',
  title: 'the recorded chain',
  hub: 'busyhub',
  token: 'iost',
  leastOfRaw: 0,
  start: async folder => {
    const { url, stop } = await serving(folder, [
      join(ROOT, 'scripts/replay'),
      join(ROOT, 'test/chain/devnet'),
      ...['--listen', '127.0.0.1:0'],
    ])
    const chain = (await (await fetch(`${url}/getChainInfo`)).json()) as { readonly lib_block: string }
    const last = Number(chain.lib_block)
    return { url, stop, warm: last, last }
  },
}
