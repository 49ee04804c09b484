import type { Profile, Settings } from './settings.ts'

/** A chain for tests: every kind of content within some thousand blocks, several cycles of it. */
export const small = (profile: Profile, seed = 7): Settings => ({
  seed,
  profile,
  blocks: profile === 'busy' ? 700 : 2500,
  holders: profile === 'busy' ? 3000 : 1200,
  voters: 500,
  producers: 5,
  inflation: profile === 'busy' ? 150 : 600,
  cycle: profile === 'sparse' ? 1024 : profile === 'busy' ? 96 : 256,
})
