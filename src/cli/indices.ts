import { listWantedIndices } from '#store/elastic/schema/mappings.ts'
import { createNames } from '#store/elastic/schema/names.ts'
import { schema } from '#store/sqlite/tables.ts'
import type { Command } from './command.ts'
import { storeAddressOf, withStore } from './compose.ts'
import type { StoreAddress } from './readers.ts'
import { LOGGING, STORE } from './setting-groups.ts'

export const indicesCreate: Command = {
  name: 'indices create',
  summary: 'create the indices or tables that are missing; safe to repeat',
  about: [
    'Creates the indices (Elasticsearch) or tables (embedded store) that are missing. Existing ones are never changed: if one has a different mapping, the command ends with exit code 3.',
    "'iostlens load' does this by itself. It also creates further partitions of history (records-000001 and so on) when it needs them.",
  ],
  settings: [...STORE, 'replicas', ...LOGGING],
  examples: ['iostlens indices create --store http://127.0.0.1:9200/iostlens'],
  run: ({ values, log, out }) =>
    withStore(values, log, async store => {
      await store.create()
      out(`All indices of ${store.name} exist.`)
      return 0
    }),
}

export const indicesCheck: Command = {
  name: 'indices check',
  summary: 'compare the store with this version; exit code 3 if anything differs',
  about: [
    'Compares the indices (or tables) of the store with those of this version and prints one line for each that is missing or different. Changes nothing.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices check', 'iostlens indices check --store http://127.0.0.1:9200/iostlens'],
  run: ({ values, log, out }) =>
    withStore(values, log, async store => {
      const differences = await store.check()
      for (const { name, problem, detail } of differences) out(`${name}: ${problem}: ${detail}`)
      for (const help of new Set(differences.map(({ help }) => help))) if (help !== undefined) out(help)
      if (differences.length > 0) return 3
      out(`All indices of ${store.name} match this version.`)
      return 0
    }),
}

export const indicesPrint: Command = {
  name: 'indices print',
  summary: 'print the mappings or tables of this version',
  about: [
    "Prints what 'iostlens indices create' would create: for Elasticsearch, JSON of index names with settings and mappings; for the embedded store, SQL. Does not connect to the store.",
    'Of the partitions of history, only the first is printed; the others (-000001 and so on) are the same.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices print --store http://127.0.0.1:9200/iostlens'],
  run: async ({ values, out }) => {
    out(schemaText(storeAddressOf(values)))
    return 0
  },
}

/** The schema that `create` makes in such a store: SQL, or JSON of index names with settings and mappings. */
const schemaText = (address: StoreAddress): string => {
  if (address.type === 'sqlite') return schema.map(({ sql }) => `${sql};`).join('\n')
  const indices = listWantedIndices(createNames(address.prefix)).map(
    ({ name, alias, into, shape }) => [name, { aliases: { [alias]: {}, [into]: {} }, ...shape }] as const,
  )
  return JSON.stringify(Object.fromEntries(indices), null, 2)
}
