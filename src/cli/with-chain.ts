import { Failure, type Log } from '#failure/failure.ts'
import { createCounters } from '#metrics/counters.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { within } from '#time/deadline.ts'
import type { CommandCall, ExitCode } from './command.ts'
import { connectNode, withStore } from './compose.ts'
import { catalogue, type MetricCounts } from './metrics/catalogue.ts'

type Running = {
  readonly version: string
  readonly store: Pick<Store, 'name' | 'published'>
  readonly node: Pick<Node, 'name'> | undefined
}

/** Milliseconds to read the height: a store that does not answer must not delay the start or the stop. */
const STORE_MS = 500

/** Logs the start of a service or a load, with the stored height. The returned function logs the end. */
export async function logRun(
  log: Log,
  { message, ...own }: { readonly message: 'Serving.' | 'Loading.'; readonly url?: string },
  running: Running,
): Promise<() => Promise<void>> {
  log('info', message, { ...own, ...(await readRunFields(running)) })
  return async () => log('info', 'Stopped.', { ...own, ...(await readRunFields(running)) })
}

const readRunFields = async ({ version, store, node }: Running) => ({
  version,
  store: store.name,
  node: node?.name ?? 'none',
  height: await readStoreHeight(store),
})

async function readStoreHeight(store: Running['store']): Promise<number | string> {
  try {
    const published = await within(store.published(), { ms: STORE_MS, late: () => new Error('late') })
    return published?.height ?? 'none'
  } catch {
    return 'unknown'
  }
}

type Chain = {
  readonly node: Node
  readonly urls: readonly string[]
  readonly store: Store
  readonly counts: MetricCounts
}

/**
 * Runs `work` with the node and the store of the settings, both counted, and closes both afterwards in any
 * case. Throws 'usage' when no node is set.
 */
export async function withChain(
  command: string,
  { values, log, provingProgram, writingProgram }: CommandCall,
  work: (chain: Chain) => Promise<ExitCode>,
): Promise<ExitCode> {
  const counts = createCounters(catalogue)
  const { node: urls } = values
  const node = connectNode(values, log, { provingProgram, counts })
  if (node === undefined || urls === undefined)
    throw new Failure('usage', `Command '${command}' needs a node.`, {
      help: 'Set it with --node URL or IOSTLENS_NODE, such as http://127.0.0.1:30001.',
    })
  return withStore(
    { values, log },
    async store => {
      try {
        return await work({ node, urls, store, counts })
      } finally {
        node.close()
      }
    },
    { writingProgram, counts },
  )
}
