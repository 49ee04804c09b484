import type { Log } from '#failure/log.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { within } from '#time/deadline.ts'

/** Data for the log lines of a process. */
type Running = {
  readonly version: string
  readonly store: Pick<Store, 'name' | 'published'>
  readonly node: Pick<Node, 'name'> | undefined
}

/**
 * Timeout for reading the height, in milliseconds: a store that does not answer must not delay the start or the stop.
 */
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
