import type { Stand } from './stand.ts'

/** Something done to a stand, until all is well again. */
export type Episode = { readonly name: string; readonly play: (stand: Stand) => Promise<void> }
