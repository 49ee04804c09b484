import type { Identity, Published } from './published.ts'

/**
 * `whole`: nothing of the record was lost. `exact`: it is as it was, by all that is stored. `open`: where the store ends
 * is not known; it is closed to all but a repair that derives the state anew.
 */
export type Restored = 'whole' | 'exact' | 'open'

/** The record of a store after a repair. */
export type Settled = { readonly identity: Identity; readonly end: Published; readonly open: boolean }
