import { namesOf } from '#store/elastic/schema/names.ts'
import { wantedIndices } from '#store/elastic/schema/wanted-indices.ts'
import { schema } from '#store/sqlite/tables.ts'
import type { StoreAddress } from './readers.ts'

/** What `create` would make in such a store: SQL, or JSON of index names with what they are made with. */
export const schemaText = (address: StoreAddress): string => {
  if (address.type === 'sqlite') return schema.map(({ sql }) => `${sql};`).join('\n')
  const indices = wantedIndices(namesOf(address.prefix)).map(
    ({ name, alias, into, shape }) => [name, { aliases: { [alias]: {}, [into]: {} }, ...shape }] as const,
  )
  return JSON.stringify(Object.fromEntries(indices), null, 2)
}
