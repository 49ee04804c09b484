import { resolve } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { describeCopy } from '#transfer/backup-file.ts'
import type { Command } from './command.ts'
import { requireExisting, withStore } from './compose.ts'
import { LOGGING, STORE } from './setting-groups.ts'
import { withProgress } from './transferring.ts'

export const backup: Command = {
  name: 'backup',
  words: ['FILE'],
  summary: 'copy the embedded store to a file, whole and checked, while it runs',
  about: [
    'Copies the embedded store with its API keys to FILE, which must not exist yet. The copy is of one height; the store may be loaded and served meanwhile. SQLite checks the copy before it gets its name.',
    'Beside it FILE.manifest.json says what is in the copy: its chain, its last block, and a digest of each index. It is written before the copy gets its name.',
    "To restore it, stop iostlens, delete the store with its -wal and -shm files, and run 'iostlens restore'.",
    'Elasticsearch has snapshots of its own for this.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: [
    'iostlens backup /backup/iostlens.sqlite',
    'iostlens backup copy.sqlite --store sqlite:chain.sqlite',
  ],
  run: async call => {
    const { values, words, log, out } = call
    const [file = ''] = words
    return withStore(values, log, async store => {
      await requireExisting(store)
      if (store.backup === undefined)
        throw new Failure('usage', `${store.name} is not an embedded store.`, {
          help: 'Copy Elasticsearch by its own snapshots: PUT /_snapshot/REPOSITORY/NAME.',
        })
      const { backup: copy } = store
      const path = resolve(file)
      const doing = { bar: 'Describing', log: 'Described the copy.' }
      const { height, bytes } = await withProgress(call, doing, how =>
        copy(path, async partial => void (await describeCopy(partial, path, how))),
      )
      out(`Copied ${store.name} at height ${height} to ${file}: ${bytes} bytes, checked.`)
      return 0
    })
  },
}
