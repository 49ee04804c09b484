import { historyIndices, stateIndices } from '#indices/registry.ts'
import type { Connection } from '../client/connection.ts'
import { requestJson } from '../client/request-json.ts'
import type { ReadCluster } from './cluster.ts'
import type { Mapping } from './mappings.ts'
import { STATE_INDICES } from './state-ids.ts'

/** An index with the prefix that any version of this program created. */
export type Existing = {
  readonly name: string
  /** Name without prefix, generation and partition. */
  readonly of: string
  readonly generation: number
  readonly aliases: readonly string[]
  readonly mapping: Partial<Mapping>
}

const HISTORY = new Set<string>(historyIndices.map(({ name }) => name))
/** Earlier versions had an index for each kind of state. */
const FORMER = new Set<string>(stateIndices.map(({ name }) => name).filter(name => name !== 'series'))
/** Indices whose documents come from the chain. */
const DERIVED = new Set<string>([...HISTORY, ...STATE_INDICES, ...FORMER])
const NAMES = [...DERIVED, 'meta', 'journal', 'keys']

/** Whether the documents of an index come from the chain, by its name without prefix, generation and partition. */
export const isDerived = (of: string): boolean => DERIVED.has(of)

/** Whether only stores of earlier versions have this index. */
export const isFormer = (of: string): boolean => FORMER.has(of)

/** All indices of this store, served or not; those of other programs and prefixes are omitted. */
export const listIndices = async ({ connection, names: { prefix } }: ReadCluster): Promise<readonly Existing[]> => {
  const all = await requestJson<
    Readonly<Record<string, { readonly aliases: object; readonly mappings: Partial<Mapping> } | undefined>>
  >(connection, {
    what: 'read the indices',
    method: 'GET',
    path: `/${prefix}-*`,
    query: { filter_path: '*.aliases,*.mappings' },
  })
  return Object.entries(all).flatMap(([name, found]) => {
    const place = placeOf(name.slice(prefix.length + 1))
    return found === undefined || place === undefined
      ? []
      : [{ name, ...place, aliases: Object.keys(found.aliases ?? {}), mapping: found.mappings ?? {} }]
  })
}

/** The parts of a name without its prefix; undefined: not one of our names. */
const placeOf = (rest: string): { readonly of: string; readonly generation: number } | undefined => {
  const of = NAMES.find(name => rest.startsWith(`${name}-`))
  if (of === undefined) return undefined
  const tail = rest.slice(of.length + 1)
  const [, generation] = (HISTORY.has(of) ? /^(?:(\d+)-)?\d{6}$/ : /^(\d+)$/).exec(tail) ?? [undefined, '-']
  return generation === '-' ? undefined : { of, generation: Number(generation ?? 0) }
}

/** Deletes indices permanently. */
export const deleteIndices = async (connection: Connection, names: readonly string[]): Promise<void> => {
  for (const name of names)
    await requestJson(connection, {
      what: `remove ${name}`,
      method: 'DELETE',
      path: `/${name}`,
      acceptedStatuses: [404],
    })
}
