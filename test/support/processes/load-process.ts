import { openElastic } from '#store/elastic/open-elastic.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { loadFrom } from '../stores/loading.ts'

/**
 * A loader to be killed: `load-process.ts NODE_URL sqlite PATH TO DOCUMENTS` or `… elastic URL PREFIX PARTITION TO DOCUMENTS`, with
 * batches of at most so many documents and partitions of PARTITION. Prints a line per batch committed; ends with code 0 when all up to TO is loaded.
 */
const [node = '', kind, ...rest] = process.argv.slice(2)
const store =
  kind === 'sqlite'
    ? openSqlite({ path: rest.shift() ?? '' })
    : openElastic({
        url: rest.shift() ?? '',
        prefix: rest.shift() ?? '',
        partitionDocuments: Number(rest.shift()),
        leaseMs: 600,
      })
const [to, documents] = rest.map(Number)
await loadFrom(node, store, {
  ...(to === undefined ? {} : { to }),
  onProgress: ({ height }) => process.stdout.write(`${height}\n`),
  batch: {
    documents: documents ?? 1_000,
    bytes: Number.MAX_SAFE_INTEGER,
    // Several of a batch, each of some blocks.
    piece: { documents: Math.ceil((documents ?? 1_000) / 4), bytes: Number.MAX_SAFE_INTEGER },
  },
})
await store.close()
process.exit(0)
