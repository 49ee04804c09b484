import { Failure } from '#failure/failure.ts'
import { stateIndices } from '#indices/registry.ts'
import type { Store, StoreDifference } from './port.ts'

/** There is no store at the address: a mistyped name must not look like an empty store. */
export class AbsentStore extends Failure {}

export const absentStore = (name: string): AbsentStore =>
  new AbsentStore('not_found', `The store ${name} does not exist.`, {
    help: "Set the store that is loaded and served with --store (or --data). 'iostlens load', 'up', 'indices create' and 'keys add' create a store.",
  })

/**
 * Stores are created whole, so a store without keys and without any state was never created. Elasticsearch keeps all kinds
 * of state but series in one place named `state`.
 */
export function isAbsent(differences: readonly StoreDifference[]): boolean {
  const missing = new Set(differences.filter(({ problem }) => problem === 'missing').map(({ name }) => name))
  const state = missing.has('state') ? ['series'] : stateIndices.map(({ name }) => name)
  return ['keys', ...state].every(name => missing.has(name))
}

/** Whether a store exists at this address. */
export const exists = async (store: Pick<Store, 'checkShape'>): Promise<boolean> => !isAbsent(await store.checkShape())
