import { resolve } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { documentsIn } from '#transfer/manifest.ts'
import { type RestoredFile, restoreFile } from '#transfer/restore-file.ts'
import type { Command } from './command.ts'
import { storeAddressOf } from './compose.ts'
import { LOGGING, NODE, STORE } from './setting-groups.ts'
import { withNode, withProgress } from './transferring.ts'

export const restore: Command = {
  name: 'restore',
  words: ['FILE'],
  summary: 'put a copy of backup in the place of a store, checked against its manifest and a node',
  about: [
    'Copies FILE, which iostlens backup made, to the embedded store, which must not exist yet. The copy is accepted when it is the one that its manifest (FILE.manifest.json) describes and its last block is on the chain of --node, which may be an archive.',
    'A copy that is not byte by byte the one that was described is refused; the digest of every index is then taken anew, and the index that differs is named.',
    "This takes minutes: nothing is derived again. A copy is believed as far as whoever made it and its manifest; 'iostlens verify' audits every document.",
    'Killed at any moment, there is no store or the whole one: run it again.',
  ],
  settings: [...NODE, ...STORE, ...LOGGING],
  examples: ['iostlens restore /backup/iostlens.sqlite --node http://127.0.0.1:30001'],
  run: async call => {
    const { values, words, out } = call
    const [file = ''] = words
    const address = storeAddressOf(values)
    if (address.type !== 'sqlite')
      throw new Failure('usage', 'A file can only be restored to an embedded store.', {
        help: 'Set --store to sqlite:PATH.',
      })
    const doing = { bar: 'Restoring', log: 'Restored.' }
    const done = await withNode(call, node =>
      withProgress(call, doing, how => restoreFile(resolve(file), address.path, { ...how, node })),
    )
    out(lineOf(done, `sqlite:${address.path}`))
    return 0
  },
}

const lineOf = ({ manifest, isThere }: RestoredFile, name: string): string =>
  `Restored ${name} at height ${manifest.height}: ${documentsIn(manifest.digests)} documents${isThere ? '; it was there already' : ''}.`
