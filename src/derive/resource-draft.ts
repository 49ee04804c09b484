import { type ResourceDoc, resources } from '#indices/resource.ts'
import type { State } from './state.ts'

/** Gas and RAM of an owner; all zero for one that never had any. */
export const resourceOf = (state: State, owner: string): ResourceDoc =>
  state.get(resources, owner) ?? {
    id: owner,
    gas_pledge: 0n,
    gas_limit: 0n,
    gas_stock: 0n,
    gas_updated: 0n,
    ram_used: 0n,
    ram_total: 0n,
  }

export const changeResource = (state: State, owner: string, change: Partial<ResourceDoc>): void => {
  state.put(resources, { ...resourceOf(state, owner), ...change })
}
