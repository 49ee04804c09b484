import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { chainOf, genesis, type transaction } from '../support/stores/hand-made.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { nodeText } from '../support/stores/node-text.ts'
import { type ReadPage, readPage } from './read-page.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is checked by what it compares it with.
type Answered = any

export type Explorer = Service & {
  visit(path: string, headers?: Readonly<Record<string, string>>): Promise<ReadPage & { readonly response: Response }>
  /** The `data` of a call of the API, in which amounts are texts. */
  call<T = Answered>(action: string, params?: Readonly<Record<string, string>>): Promise<T>
  list(
    action: string,
    params?: Readonly<Record<string, string>>,
  ): Promise<readonly Readonly<Record<string, Answered>>[]>
}

export const HTML = 'text/html,application/xhtml+xml'

type ExplorerOptions = Parameters<typeof serviceOn>[1] & { readonly isKeyless?: boolean }

/** The services of this process without options, each with the pages that it has shown. */
const shared = new Map<boolean, Promise<Explorer>>()

/**
 * @param options options of the service, such as its base path; `isKeyless`: visitors get no test key. Without others
 * the tests share a service.
 * @param store a store with another chain than the recorded one.
 */
export function explorerOn(options: ExplorerOptions = {}, store?: Store): Promise<Explorer> {
  const { isKeyless = false, ...others } = options
  if (store !== undefined || Object.keys(others).length > 0) return openExplorer(options, store)
  const known = shared.get(isKeyless) ?? openExplorer(options)
  shared.set(isKeyless, known)
  return known
}

async function openExplorer({ isKeyless = false, ...over }: ExplorerOptions, store?: Store): Promise<Explorer> {
  const test = createKey('shared', { perSecond: 1_000_000, perDay: 1_000_000_000 }, { now: Date.now() })
  const options = {
    explorer: true,
    ...(isKeyless ? {} : { testKey: test.key, keys: [test.stored] }),
    ...over,
  }
  const service = serviceOn(store ?? (await loadedStore()), options)
  const { basePath = '' } = options
  const call: Explorer['call'] = async (action, params = {}) => {
    const query = new URLSearchParams({ ...params, numbers: 'string', format: 'bare' })
    const response = await service.ask(`${basePath}/api/${action}?${query}`, {
      headers: { 'x-api-key': service.key },
    })
    if (response.status !== 200) throw new Error(`${action}?${query}: ${await response.text()}`)
    return (await response.json()) as never
  }
  return {
    ...service,
    visit: async (path, headers = {}) => {
      const response = await service.ask(path, { headers: { accept: HTML, ...headers } })
      const isPage = response.headers.get('content-type')?.startsWith('text/html') === true
      return { ...(await readPage(isPage ? await response.clone().text() : '')), response }
    },
    call,
    list: async (action, params) => {
      const rows = Object.values(await call<Readonly<Record<string, Answered>>>(action, params)).find(Array.isArray)
      if (rows === undefined) throw new Error(`${action} has no list.`)
      return rows
    },
  }
}

/** The explorer on a chain with genesis and blocks of these transactions, which have bodies as nodes give them. */
export async function explorerOnMade(
  blocks: readonly (readonly ReturnType<typeof transaction>[])[],
  options: ExplorerOptions = {},
) {
  const { store, destroy } = await temporarySqlite()
  const bodied = [[genesis()], ...blocks].map(block => block.map(tx => ({ ...tx, body: nodeText(tx) })))
  await commitRuns(store, [chainOf(...bodied)], { lib: blocks.length })
  return { ...(await explorerOn(options, store)), store, [Symbol.asyncDispose]: destroy }
}

/** The service on a port of its own: its requests have a network address. */
export function listenAlone({ app }: Service) {
  app.listen({ port: 0, hostname: '127.0.0.1' })
  return {
    url: `http://127.0.0.1:${app.server?.port}`,
    [Symbol.asyncDispose]: async () => {
      await app.stop(true)
    },
  }
}
