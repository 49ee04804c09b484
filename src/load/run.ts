import type { LoadedBlock } from '#chain/block.ts'

/** Blocks whose state is fetched with one question to the store. */
export type Run = readonly LoadedBlock[]
