import { loadFrom } from '../stores/loading.ts'
import { openNamed } from '../stores/test-state.ts'

/**
 * A loader to be killed: `load-process.ts NODE_URL sqlite PATH TO DOCUMENTS` or `… elastic URL PREFIX
 * PARTITION TO DOCUMENTS`, with batches of at most DOCUMENTS documents and partitions of PARTITION. Prints a
 * line per committed batch. Exits with 0 when all blocks up to TO are loaded.
 */
const [node = '', ...rest] = process.argv.slice(2)
const place = rest.slice(0, rest[0] === 'sqlite' ? 2 : 4)
const [to, documents = 1_000] = rest.slice(place.length).map(Number)
// A batch consists of several parts, each with some blocks.
const chunk = { documents: Math.ceil(documents / 4), bytes: Number.MAX_SAFE_INTEGER }
const store = openNamed(place, chunk)
async function main(): Promise<void> {
  await loadFrom(node, store, {
    ...(to === undefined ? {} : { to }),
    onProgress: ({ height }) => process.stdout.write(`${height}\n`),
    batch: { documents, bytes: Number.MAX_SAFE_INTEGER, chunk },
  })
  await store.close()
  process.exit(0)
}
void main()
