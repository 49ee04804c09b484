import { Failure } from '#failure/failure.ts'
import { copyStore } from '#transfer/copy.ts'
import type { Command } from './command.ts'
import { getStoreAddress, openStore, requireExisting, requireUsable, withStore } from './compose.ts'
import { LOADING, LOGGING, STORE } from './settings.ts'
import { withProgress } from './transferring.ts'

export const copy: Command = {
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
    return withStore(values, log, async from => {
      await requireExisting(from)
      await requireUsable(from)
      const target = openStore({ ...values, store: to }, log)
      try {
        const doing = { bar: 'Copying', log: 'Copied.' }
        const { height, documents } = await withProgress(call, doing, how => copyStore(from, target, how))
        out(`Copied ${from.name} at height ${height} into ${target.name}: ${documents} documents, all digests agree.`)
        return 0
      } finally {
        await target.close()
      }
    })
  },
}
