import { resolve } from 'node:path'
import { Failure } from '#failure/failure.ts'
import type { Command } from './command.ts'
import { requireExisting, withStore } from './compose.ts'
import { LOGGING, STORE } from './setting-groups.ts'

export const backup: Command = {
  name: 'backup',
  words: ['FILE'],
  summary: 'copy the embedded store to a file, whole and checked, while it runs',
  about: [
    'Copies the embedded store with its API keys to FILE, which must not exist yet. The copy is of one height; the store may be loaded and served meanwhile. SQLite checks the copy before it gets its name.',
    'To restore it, stop iostlens, delete the store with its -wal and -shm files, and put the copy in its place.',
    'Elasticsearch has snapshots of its own for this.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: [
    'iostlens backup /backup/iostlens.sqlite',
    'iostlens backup copy.sqlite --store sqlite:chain.sqlite',
  ],
  run: ({ values, words: [file = ''], log, out }) =>
    withStore(values, log, async store => {
      await requireExisting(store)
      if (store.backup === undefined)
        throw new Failure('usage', `${store.name} is not an embedded store.`, {
          help: 'Copy Elasticsearch by its own snapshots: PUT /_snapshot/REPOSITORY/NAME.',
        })
      const { height, bytes } = await store.backup(resolve(file))
      out(`Copied ${store.name} at height ${height} to ${file}: ${bytes} bytes, checked.`)
      return 0
    }),
}
