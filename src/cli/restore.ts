import { resolve } from 'node:path'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { DigestOptions } from '#transfer/digest.ts'
import { type StoreManifest, sumDocuments } from '#transfer/manifest.ts'
import { restoreFile } from '#transfer/restore-file.ts'
import { restoreFromSnapshot } from '#transfer/restore-snapshot.ts'
import type { Command, CommandCall } from './command.ts'
import { getStoreAddress, openStore } from './compose.ts'
import { LOGGING, NODE, STORE } from './settings.ts'
import { requireRepository, withNode, withProgress } from './transferring.ts'

export const restore: Command = {
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
    const { words, out } = call
    const [file = ''] = words
    const doing = { bar: 'Restoring', log: 'Restored.' }
    const address = getStoreAddress(call.values)
    const work = address.type === 'sqlite' ? fromFile(call, address.path) : fromSnapshot(call)
    const line = await withNode(call, node => withProgress(call, doing, how => work(file, { ...how, node })))
    out(line)
    return 0
  },
}

type Work = (file: string, how: DigestOptions & { readonly node: Node }) => Promise<string>

const fromFile =
  ({ values }: CommandCall, path: string): Work =>
  async (file, how) => {
    if (values.repository !== undefined)
      throw new Failure('usage', 'A snapshot can only be restored to Elasticsearch.', {
        help: 'Set --store to the URL of Elasticsearch, or leave --repository out.',
      })
    const { manifest, isThere } = await restoreFile(resolve(file), path, how)
    return `${formatRestored(manifest, `sqlite:${path}`)}${isThere ? '; it existed already' : ''}.`
  }

const fromSnapshot =
  ({ values, log }: CommandCall): Work =>
  async (name, how) => {
    const snapshot = { repository: requireRepository(values), name }
    const store = openStore(values, log)
    try {
      const { snapshots } = store
      if (snapshots === undefined) throw new Failure('defect', `${store.name} has no snapshots.`)
      return `${formatRestored(await restoreFromSnapshot({ ...store, snapshots }, snapshot, how), store.name)}.`
    } finally {
      await store.close()
    }
  }

const formatRestored = ({ height, digests }: StoreManifest, name: string): string =>
  `Restored ${name} at height ${height}: ${sumDocuments(digests)} documents`
