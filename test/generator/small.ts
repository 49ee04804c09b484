import { SOAK } from '#test/support/processes/soak.ts'
import type { Profile, Settings } from './settings.ts'

/** The number of blocks in every run, and in long runs: every kind of content, several cycles of it. */
const BLOCKS = { sparse: [2500, 2500], mixed: [850, 2500], busy: [420, 700] } as const

/** A chain for tests. */
export const small = (profile: Profile, seed = 7): Settings => ({
  seed,
  profile,
  blocks: BLOCKS[profile][SOAK ? 1 : 0],
  holders: profile === 'busy' ? 3000 : 1200,
  voters: 500,
  producers: 5,
  inflation: profile === 'busy' ? 150 : 400,
  cycle: profile === 'sparse' ? 1024 : profile === 'busy' ? 96 : 256,
})
