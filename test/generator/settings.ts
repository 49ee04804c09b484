import { Failure } from '#failure/failure.ts'

export const PROFILES = ['sparse', 'busy', 'mixed'] as const
export type Profile = (typeof PROFILES)[number]

/** All parameters of a generated chain. Heights, lengths and counts are whole numbers. */
export const DEFAULTS = {
  seed: 1,
  profile: 'mixed' as Profile,
  /** Height of the last block that the node shows. */
  blocks: 1_000_000,
  /** Accounts, each a holder of the large token `coin`, and those of them that vote for the first producer. */
  holders: 1_000_000,
  voters: 100_000,
  /** They take turns of six blocks. */
  producers: 17,
  /** Blocks of one cycle. After each cycle, every moved amount has been moved back (see `cycle-plan.ts`). */
  cycle: 16_384,
  /** Blocks from one inflation to the next; a day's on the real chain. */
  inflation: 172_800,
}
export type Settings = Readonly<typeof DEFAULTS>

const BOUNDS: Readonly<Record<Exclude<keyof Settings, 'profile'>, readonly [least: number, most: number]>> = {
  seed: [0, 2 ** 32 - 1],
  // 2^33 blocks are 136 years of chain time.
  blocks: [0, 2 ** 33],
  holders: [100, 10_000_000],
  voters: [10, 10_000_000],
  producers: [1, 100],
  cycle: [64, 131_072],
  inflation: [64, 2 ** 33],
}

/** Settings with defaults for missing values. Throws Failure 'usage'. */
export function settingsOf(given: Partial<Settings>): Settings {
  const settings = { ...DEFAULTS, ...given }
  for (const name of Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]) {
    const [least, most] = BOUNDS[name]
    const value = settings[name]
    if (!Number.isInteger(value) || value < least || value > most)
      throw new Failure('usage', `${name} ${value} is not a whole number of ${least} … ${most}.`)
  }
  const { cycle, producers, voters, holders } = settings
  // Each producer exchanges rewards in the middle of the first cycle, so it must have had its turn before.
  if (cycle < 16 * producers)
    throw new Failure('usage', `cycle ${cycle} is below 16 blocks for each of ${producers} producers.`)
  if (voters > holders) throw new Failure('usage', `voters ${voters} are more than the ${holders} holders.`)
  return settings
}
