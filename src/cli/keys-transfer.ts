import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { shown } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import { createFile } from '#store/own-files.ts'
import { copyKeys } from '#transfer/copy-keys.ts'
import { formatKeys, parseKeys, readStoredKey } from '#transfer/key-file.ts'
import type { Command } from './command.ts'
import { withStore } from './compose.ts'
import { LOGGING, STORE } from './settings.ts'

export const keysExport: Command = {
  name: 'keys export',
  words: ['FILE'],
  summary: 'write all API keys, as hashes, to a file; also from a damaged store',
  about: [
    'Writes every key, a line of JSON each, to FILE, which must not exist yet. The file has what the store has: id, hash, name, note, plan and times. Keys are the one thing in a store that cannot be loaded again.',
    'From a damaged embedded store the keys that can be read are written; if some cannot, the command says so and ends with exit code 3.',
    'Counts of requests are not written.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens keys export keys.ndjson', 'iostlens keys export keys.ndjson --store sqlite:damaged.sqlite'],
  run: ({ values, words: [file = ''], log, out }) =>
    withStore(values, log, async store => {
      if (existsSync(file))
        throw new Failure('usage', `${shown(file)} exists; an export replaces no file.`, {
          help: 'Name a file that does not exist yet.',
        })
      const { keys: found, isWhole: isAll } = await store.keys.salvage()
      const keys = found.filter(key => readStoredKey(key) !== undefined)
      const isWhole = isAll && keys.length === found.length
      createFile(file)
      writeFileSync(file, formatKeys({ keys, isWhole }))
      out(`Wrote ${keys.length} API keys of ${store.name} to ${file}.`)
      if (isWhole) return 0
      out('Others could not be read, because the store is damaged.')
      return 3
    }),
}

export const keysImport: Command = {
  name: 'keys import',
  words: ['FILE'],
  summary: 'add the API keys of a file that keys export wrote; no restart is needed',
  about: [
    'Adds the keys of FILE with their ids, plans and times. A key that the store has gets the terms of the file; one that is revoked in either of them stays revoked. It may be repeated.',
    'A store that does not exist is created.',
  ],
  settings: [...STORE, 'replicas', ...LOGGING],
  examples: ['iostlens keys import keys.ndjson'],
  run: ({ values, words: [file = ''], log, out }) => {
    const { keys, isWhole } = parseKeys(readFileSync(file, 'utf8'), file)
    return withStore(values, log, async store => {
      await store.create()
      await copyKeys({ keys: { list: async () => keys } }, store)
      out(`${store.name} has the ${keys.length} API keys of ${file}.`)
      if (!isWhole) out('The file was written from a damaged store: it may lack keys.')
      return 0
    })
  },
}
