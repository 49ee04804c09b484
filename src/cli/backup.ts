import { resolve } from 'node:path'
import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'
import { describeCopy, megabytes } from '#transfer/backup-file.ts'
import { backupSnapshot } from '#transfer/backup-snapshot.ts'
import { sumDocuments } from '#transfer/manifest.ts'
import type { Command, CommandCall } from './command.ts'
import { openStore, requireExisting, useStore } from './compose.ts'
import { LOGGING, STORE } from './settings.ts'
import { requireRepository, withProgress } from './transferring.ts'

export const backup: Command = {
  name: 'backup',
  words: ['FILE'],
  summary: 'copy the store, whole and checked: to a file or a snapshot',
  about: [
    'Copies the embedded store with its API keys to FILE, which must not exist yet. The copy is of one height; the store may be loaded and served meanwhile. SQLite checks the copy before it gets its name.',
    'FILE.manifest.json beside it describes the copy: its chain, its last block, and a digest of each index. It is written before the copy gets its name.',
    "For Elasticsearch, FILE is the name of a snapshot in --repository, which also contains the manifest. No loader may run meanwhile; 'iostlens serve' may. If the command is killed, run it again: it continues with the same snapshot unless blocks were loaded since.",
    "To restore it, stop iostlens, delete the store, and run 'iostlens restore'.",
  ],
  settings: [...STORE, 'lease', 'repository', ...LOGGING],
  examples: [
    'iostlens backup /backup/iostlens.sqlite',
    'iostlens backup copy.sqlite --store sqlite:chain.sqlite',
    'iostlens backup monday --repository backup --store http://127.0.0.1:9200/iostlens',
  ],
  run: async call => {
    const { values, words, log, out, writingProgram } = call
    const [file = ''] = words
    const work = async (store: Store): Promise<0> => {
      await requireExisting(store)
      out(await copied(call, store, file))
      return 0
    }
    return useStore(openStore(values, log, { writingProgram }), work)
  },
}

/** Copies the store by the method that it supports; returns a sentence about the result. */
async function copied(call: CommandCall, store: Store, file: string): Promise<string> {
  const { backup: copy, snapshots } = store
  if (snapshots !== undefined) {
    const snapshot = { repository: requireRepository(call.values), name: file }
    const doing = { bar: 'Backing up', log: 'Backed up.' }
    const { height, digests } = await withProgress(call, doing, how =>
      backupSnapshot({ ...store, snapshots }, snapshot, how),
    )
    return `Took the snapshot ${file} of ${store.name} at height ${height}: ${sumDocuments(digests)} documents.`
  }
  if (copy === undefined) throw new Failure('defect', `${store.name} cannot be copied.`)
  if (call.values.repository !== undefined)
    throw new Failure('usage', `${store.name} is an embedded store, which has no --repository.`)
  const path = resolve(file)
  const doing = { bar: 'Backing up', log: 'Backed up.' }
  const { height, bytes } = await withProgress(call, doing, how =>
    copy(path, {
      beforeNaming: async partial => void (await describeCopy(partial, path, how)),
      onProgress: ({ done, of }) => how.onProgress({ stage: 'MB copied', done: megabytes(done), of: megabytes(of) }),
      signal: how.signal,
    }),
  )
  return `Copied ${store.name} at height ${height} to ${file}: ${bytes} bytes, checked.`
}
