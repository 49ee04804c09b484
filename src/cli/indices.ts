import { listWantedIndices } from '#store/elastic/schema/mappings.ts'
import { createNames } from '#store/elastic/schema/names.ts'
import { schema } from '#store/sqlite/tables.ts'
import type { Command } from './command.ts'
import { getStoreAddress, requireExisting, withStore } from './compose.ts'
import type { StoreAddress } from './readers.ts'
import { LOGGING, STORE } from './settings.ts'

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
    out(schemaText(getStoreAddress(values)))
    return 0
  },
}

export const indicesMerge: Command = {
  name: 'indices merge',
  summary: 'merge finished partitions of history and make them read-only; safe to repeat',
  about: [
    'History in Elasticsearch is split into partitions; all but the last are finished. This command merges each index of a finished partition into one segment, so that it takes less space and reads faster, and makes it read-only. Indices that are merged already are skipped.',
    'The store may be loaded and served meanwhile. The command may be stopped and run again at any time. The embedded store has nothing to merge.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices merge --store http://127.0.0.1:9200/iostlens'],
  run: ({ values, log, out, screen, signal }) =>
    withStore(values, log, async store => {
      await requireExisting(store)
      const { name: stored, partitions } = store
      if (partitions === undefined) {
        out(`${stored} keeps its history in one piece; there is nothing to merge.`)
        return 0
      }
      const count = { merging: 0, merged: 0, skipped: 0 }
      try {
        await partitions.merge({
          signal,
          onProgress: ({ name, state, at, of }) => {
            count[state]++
            screen.bar(state === 'merging' ? `merging ${name}  ${at} of ${of}` : '')
            if (state === 'merged') out(`${name}: merged, ${at} of ${of}`)
          },
        })
        out(
          count.merged + count.skipped === 0
            ? `${stored} has no finished partition yet.`
            : `Finished partitions of ${stored}: ${count.merged} indices merged, ${count.skipped} were merged before.`,
        )
        return 0
      } catch (error) {
        if (!signal.aborted) throw error
        out('Stopped before all indices were merged; run it again to continue.')
        return 75
      } finally {
        screen.bar('')
      }
    }),
}

/** The schema that `create` makes in such a store: SQL, or JSON of index names with settings and mappings. */
function schemaText(address: StoreAddress): string {
  if (address.type === 'sqlite') return schema.map(({ sql }) => `${sql};`).join('\n')
  const indices = listWantedIndices(createNames(address.prefix)).map(
    ({ name, alias, into, shape }) => [name, { aliases: { [alias]: {}, [into]: {} }, ...shape }] as const,
  )
  return JSON.stringify(Object.fromEntries(indices), null, 2)
}
