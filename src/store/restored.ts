import type { Identity, Published } from './published.ts'

/**
 * `whole`: nothing of the record was lost. `exact`: the record was rebuilt as it was, according to all stored data.
 * `open`: the end of the store is unknown; the store is closed to all but a repair that derives the state anew.
 */
export type RestoreOutcome = 'whole' | 'exact' | 'open'

/** The record of a store after a repair. */
export type SettledEnd = { readonly identity: Identity; readonly end: Published; readonly open: boolean }
