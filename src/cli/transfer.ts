import { resolve } from 'node:path'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { backupSnapshot, describeCopy, type StoreManifest, toMegabytes } from '#transfer/backup.ts'
import { copyStore } from '#transfer/copy.ts'
import { type DigestOptions, sumDocuments } from '#transfer/digest.ts'
import { restoreFile, restoreFromSnapshot } from '#transfer/restore.ts'
import type { Command, CommandCall } from './command.ts'
import { connectNode, getStoreAddress, requireExisting, requireUsable, withStore } from './compose.ts'
import { stageProgress } from './progress.ts'
import { LOADING, LOGGING, NODE, STORE } from './settings.ts'
import { withBar } from './stop.ts'

/** Runs work on whole stores with a progress display. Throws 'deadline' when it was stopped before its end. */
function withProgress<T>(
  call: CommandCall,
  doing: Parameters<typeof stageProgress>[1],
  work: (how: DigestOptions) => Promise<T>,
): Promise<T> {
  const stopped = new Failure('deadline', 'Stopped before the end.', { help: 'Run it again.' })
  return withBar(call, stopped, () => work({ signal: call.signal, onProgress: stageProgress(call, doing) }))
}

/** The snapshot repository of the settings. Throws 'usage' when none is set. */
function requireRepository({ repository }: Pick<CommandCall['values'], 'repository'>): string {
  if (repository !== undefined) return repository
  throw new Failure('usage', 'Elasticsearch keeps snapshots in repositories, but none is set.', {
    help: 'Register one (PUT /_snapshot/NAME), and set --repository.',
  })
}

const backup: Command = {
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
    const { words, out, writingProgram } = call
    const [file = ''] = words
    const work = async (store: Store): Promise<0> => {
      await requireExisting(store)
      out(await backUp(call, store, file))
      return 0
    }
    return withStore(call, work, { writingProgram })
  },
}

/** Copies the store by the method that it supports; returns a sentence about the result. */
async function backUp(call: CommandCall, store: Store, file: string): Promise<string> {
  const { backup: copy, snapshots } = store
  const doing = { bar: 'Backing up', log: 'Backed up.' }
  if (snapshots !== undefined) {
    const snapshot = { repository: requireRepository(call.values), name: file }
    const { height, digests } = await withProgress(call, doing, how =>
      backupSnapshot({ ...store, snapshots }, snapshot, how),
    )
    return `Took the snapshot ${file} of ${store.name} at height ${height}: ${sumDocuments(digests)} documents.`
  }
  if (copy === undefined) throw new Failure('defect', `${store.name} cannot be copied.`)
  if (call.values.repository !== undefined)
    throw new Failure('usage', `${store.name} is an embedded store, which has no --repository.`)
  const path = resolve(file)
  const { height, bytes } = await withProgress(call, doing, how =>
    copy(path, {
      beforeNaming: async partial => void (await describeCopy(partial, path, how)),
      onProgress: ({ done, of }) =>
        how.onProgress({ stage: 'MB copied', done: toMegabytes(done), of: toMegabytes(of) }),
      signal: how.signal,
    }),
  )
  return `Copied ${store.name} at height ${height} to ${file}: ${bytes} bytes, checked.`
}

const copy: Command = {
  name: 'copy',
  summary: 'copy a store into another one, such as from SQLite to Elasticsearch',
  about: [
    'Copies --store with its API keys into the store --to, which must not exist yet, at one height: nothing is derived again, and no node is needed. The source may be loaded and served meanwhile.',
    'The copy cannot be used until a digest of each index shows that it has all the data of the source; then it is served and loaded like any store. If a digest differs, the command names the index.',
    'If the command is stopped or killed, run it again: it continues after the last copied blocks, up to the height that the source then has. Until it is complete, the copy reports that it is being repaired.',
    'Daily request counts of keys are not copied, because services on the source go on counting; in the copy, each key begins its day at 0.',
    'Credentials in the settings apply to each of the two stores that is in Elasticsearch.',
  ],
  settings: [...STORE, 'to', ...LOADING, ...LOGGING],
  examples: [
    'iostlens copy --store sqlite:data/iostlens.sqlite --to http://127.0.0.1:9200/iostlens',
    'iostlens copy --store http://127.0.0.1:9200/iostlens --to sqlite:chain.sqlite',
  ],
  run: async call => {
    const { values, log, out } = call
    const { to } = values
    if (typeof to !== 'object')
      throw new Failure('usage', '--to names no store to copy into.', {
        help: 'Set it to sqlite:PATH or http(s)://HOST:PORT/PREFIX.',
      })
    if (Bun.deepEquals(to, getStoreAddress(values)))
      throw new Failure('usage', '--store and --to are the same store.', { help: 'Set --to to another one.' })
    return withStore({ values, log }, async from => {
      await requireExisting(from)
      await requireUsable(from)
      return withStore({ values: { ...values, store: to }, log }, async target => {
        const doing = { bar: 'Copying', log: 'Copied.' }
        const { height, documents } = await withProgress(call, doing, how => copyStore(from, target, how))
        out(`Copied ${from.name} at height ${height} into ${target.name}: ${documents} documents, all digests agree.`)
        return 0
      })
    })
  },
}

const restore: Command = {
  name: 'restore',
  words: ['FILE'],
  summary: 'restore a store from a backup, checked by its manifest',
  about: [
    "Copies FILE, which 'iostlens backup' made, to the embedded store, which must not exist yet. The copy is accepted when it is the one that its manifest (FILE.manifest.json) describes and its last block is on the chain of --node, which may be an archive.",
    'A copy whose bytes differ from those described is refused; the command then computes the digest of every index again and names the one that differs.',
    'With --repository, FILE is the name of a snapshot of Elasticsearch. The server restores it, unless its indices exist already, and checks each file by its checksum. The indices are accepted if the server has just restored them and nothing was written to them since the manifest was made; otherwise the digest of every index must equal the one in the manifest. Until then nobody can read them.',
    "This takes minutes: nothing is derived again. A copy is trusted as far as its maker and its manifest; 'iostlens verify' audits every document.",
    'If the command is killed, the store is either complete or cannot be used: run it again.',
  ],
  settings: [...NODE, ...STORE, 'lease', 'repository', ...LOGGING],
  examples: [
    'iostlens restore /backup/iostlens.sqlite --node http://127.0.0.1:30001',
    'iostlens restore monday --repository backup --store http://127.0.0.1:9200 --node archive:/archive',
  ],
  run: async call => {
    const { values, log, out } = call
    using node = connectNode(values, log)
    if (node === undefined)
      throw new Failure('usage', 'A copy is compared with the chain of a node or archive, but none is set.', {
        help: 'Set --node.',
      })
    const doing = { bar: 'Restoring', log: 'Restored.' }
    out(await withProgress(call, doing, how => restoreCopy(call, { ...how, node })))
    return 0
  },
}

/** Restores a file or a snapshot, as the store requires; returns a sentence about the result. */
async function restoreCopy(call: CommandCall, how: DigestOptions & { readonly node: Node }): Promise<string> {
  const { values, words } = call
  const [name = ''] = words
  const address = getStoreAddress(values)
  if (address.type === 'sqlite') {
    if (values.repository !== undefined)
      throw new Failure('usage', 'A snapshot can only be restored to Elasticsearch.', {
        help: 'Set --store to the URL of Elasticsearch, or leave --repository out.',
      })
    const { manifest, isThere } = await restoreFile(resolve(name), address.path, how)
    return `${formatRestored(manifest, `sqlite:${address.path}`)}${isThere ? '; it existed already' : ''}.`
  }
  const snapshot = { repository: requireRepository(values), name }
  return withStore(call, async store => {
    const { snapshots } = store
    if (snapshots === undefined) throw new Failure('defect', `${store.name} has no snapshots.`)
    return `${formatRestored(await restoreFromSnapshot({ ...store, snapshots }, snapshot, how), store.name)}.`
  })
}

const formatRestored = ({ height, digests }: StoreManifest, name: string): string =>
  `Restored ${name} at height ${height}: ${sumDocuments(digests)} documents`

/** The commands that copy whole stores, in the order of the help. */
export const transferCommands: readonly Command[] = [backup, restore, copy]
