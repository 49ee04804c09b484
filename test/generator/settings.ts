import { Failure } from '#failure/failure.ts'

export const PROFILES = ['sparse', 'busy', 'mixed'] as const
export type Profile = (typeof PROFILES)[number]

/** All parameters of a generated chain. Heights, lengths and counts are whole numbers. */
export type Settings = {
  readonly seed: number
  readonly profile: Profile
  /** Height of the last block that the node shows. */
  readonly blocks: number
  /** Accounts, each a holder of the large token `coin`. */
  readonly holders: number
  /** Accounts that vote for the first producer. */
  readonly voters: number
  /** Number of producers, which take turns of six blocks. */
  readonly producers: number
  /** Blocks of one cycle. After each cycle, every moved amount has been moved back (see `cycle-plan.ts`). */
  readonly cycle: number
  /** Blocks from one inflation to the next; a day's on the real chain. */
  readonly inflation: number
}

export const DEFAULTS: Settings = {
  seed: 1,
  profile: 'mixed',
  blocks: 1_000_000,
  holders: 1_000_000,
  voters: 100_000,
  producers: 17,
  cycle: 16_384,
  inflation: 172_800,
}

type Bounds = readonly [least: number, most: number]
const BOUNDS: Readonly<Record<Exclude<keyof Settings, 'profile'>, Bounds>> = {
  seed: [0, 2 ** 32 - 1],
  // 2^33 blocks are 136 years of chain time.
  blocks: [0, 2 ** 33],
  holders: [100, 10_000_000],
  voters: [10, 10_000_000],
  producers: [1, 100],
  cycle: [64, 131_072],
  inflation: [64, 2 ** 33],
}

/** Each producer exchanges rewards in the middle of the first cycle, so it must have had its turn before. */
const BLOCKS_PER_PRODUCER = 16

/** Settings with defaults for missing values. Throws Failure 'usage'. */
export function settingsOf(given: Partial<Settings>): Settings {
  const settings = { ...DEFAULTS, ...given }
  for (const name of Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]) {
    const [least, most] = BOUNDS[name]
    const value = settings[name]
    if (!Number.isInteger(value) || value < least || value > most)
      throw new Failure('usage', `${name} ${value} is not a whole number of ${least} … ${most}.`)
  }
  if (settings.cycle < BLOCKS_PER_PRODUCER * settings.producers)
    throw new Failure(
      'usage',
      `cycle ${settings.cycle} is below ${BLOCKS_PER_PRODUCER} blocks for each of ${settings.producers} producers.`,
    )
  if (settings.voters > settings.holders)
    throw new Failure('usage', `voters ${settings.voters} are more than the ${settings.holders} holders.`)
  return settings
}
