import { join } from 'node:path'
import { ROOT, serving } from './processes.ts'

/** A chain that is loaded and asked about. */
export type Chain = {
  /** What its stores are called. */
  readonly name: 'sparse' | 'busy' | 'recorded'
  readonly title: string
  /** Account with a long list of rows. */
  readonly hub: string
  /** Token with many holders. */
  readonly token: string
  /** The share of a raw bulk's rate that loading is to reach, percent. */
  readonly leastOfRaw: number
  /** Starts a node that has it. */
  readonly start: (folder: string) => Promise<ChainNode>
}

export type ChainNode = {
  readonly url: string
  /** Blocks up to here are loaded before anything is measured. */
  readonly warm: number
  readonly last: number
  readonly stop: () => Promise<void>
}

/** Figures of so few blocks say nothing: whoever asks for them looks whether everything can be measured. */
export const isTrial = (blocks: number): boolean => blocks < 1_000

/** Blocks after the making of a generated world that are loaded before the measured ones, and how large the world is. */
const worldOf = (name: 'sparse' | 'busy', blocks: number) => {
  if (isTrial(blocks)) return { warm: 20, holders: 200, voters: 100 }
  const holders = name === 'sparse' ? 2_000 : Math.min(50_000, Math.max(2_000, blocks * 2))
  return { warm: 200, holders, voters: 500 }
}
/** Blocks after which all that moved has come back; few, so that each thing is asked for again and again. */
const CYCLE = 8_192

/** A chain of `test/generator` with so many blocks after its beginning. */
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
      serving(folder, [
        join(ROOT, 'scripts/generate-chain'),
        ...['--profile', name, ...size, '--blocks', `${last}`],
      ])
    // The world's making takes the same number of blocks whatever the chain's length, and the node says it.
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
