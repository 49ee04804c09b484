import type { Stand } from './stand.ts'

/** A disturbance of a stand, which lasts until all processes have recovered. */
export type Episode = { readonly name: string; readonly play: (stand: Stand) => Promise<void> }
