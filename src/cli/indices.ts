import type { Command } from './command.ts'
import { openStore, storeAddressOf } from './compose.ts'
import { schemaText } from './schema-text.ts'
import { LOGGING, STORE } from './setting-groups.ts'

export const indicesCreate: Command = {
  name: 'indices create',
  words: [],
  summary: 'create what is missing in the store; safe to repeat',
  about:
    'Creates the indices (or tables) that are missing. One that exists with another mapping is left alone and ends it with code 3. Loading does this by itself, and creates further partitions of history (records-000001 and so on) as it fills them.',
  settings: [...STORE, 'replicas', ...LOGGING],
  examples: ['iostlens indices create --store http://127.0.0.1:9200/iostlens'],
  run: async ({ values, log, out }) => {
    const store = openStore(values, log)
    try {
      await store.create()
      out(`All indices of ${store.name} are there.`)
      return 0
    } finally {
      await store.close()
    }
  },
}

export const indicesCheck: Command = {
  name: 'indices check',
  words: [],
  summary: 'what differs between the store and this version; code 3 when something does',
  about:
    'Compares the indices (or tables) of the store with those this version makes, prints one line for each that is missing or different, and changes nothing.',
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices check', 'iostlens indices check --store http://127.0.0.1:9200/iostlens'],
  run: async ({ values, log, out }) => {
    const store = openStore(values, log)
    try {
      const differences = await store.check()
      for (const { name, problem, detail } of differences) out(`${name}: ${problem}: ${detail}`)
      if (differences.length > 0) return 3
      out(`All indices of ${store.name} are as they should be.`)
      return 0
    } finally {
      await store.close()
    }
  },
}

export const indicesPrint: Command = {
  name: 'indices print',
  words: [],
  summary: 'the mappings or tables this version makes, as text',
  about:
    'Prints what indices create would make: index names with settings and mappings as JSON for Elasticsearch (further partitions of history, -000001 and so on, are like the first), SQL for the embedded store. Asks no store.',
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices print --store http://127.0.0.1:9200/iostlens'],
  run: async ({ values, out }) => {
    out(schemaText(storeAddressOf(values)))
    return 0
  },
}

export const indicesMerge: Command = {
  name: 'indices merge',
  words: [],
  summary: 'merge finished partitions of history and make them read-only; safe to repeat',
  about:
    'History in Elasticsearch is split into partitions; all but the last are finished. Merges each index of these to one segment, so that it takes less room and is read faster, and makes it read-only; those that are so already are skipped. May run while the store is loaded and served, and be stopped and run again at any time. The embedded store has nothing to merge.',
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices merge --store http://127.0.0.1:9200/iostlens'],
  run: async ({ values, log, out, screen, signal }) => {
    const store = openStore(values, log)
    const count = { merging: 0, merged: 0, skipped: 0 }
    try {
      await store.merge({
        signal,
        onProgress: ({ name, state, at, of }) => {
          count[state]++
          screen.bar(state === 'merging' ? `merging ${name}  ${at} of ${of}` : '')
          if (state === 'merged') out(`${name}: merged, ${at} of ${of}`)
        },
      })
      out(
        count.merged + count.skipped === 0
          ? `${store.name} has no finished partition yet.`
          : `Finished partitions of ${store.name}: ${count.merged} indices merged, ${count.skipped} were so before.`,
      )
      return 0
    } catch (error) {
      if (!signal.aborted) throw error
      out('Stopped before all was merged; run it again to go on.')
      return 75
    } finally {
      screen.bar('')
      await store.close()
    }
  },
}
