import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { chainOf, genesis, type transaction } from '../support/stores/hand-made.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { nodeText } from '../support/stores/node-text.ts'
import { readPage } from './read-page.ts'

export type Explorer = Awaited<ReturnType<typeof openExplorer>>

export const HTML = 'text/html,application/xhtml+xml'

type ExplorerOptions = Parameters<typeof serviceOn>[1] & { readonly isKeyless?: boolean }
type Params = Readonly<Record<string, string>>

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is checked by what it compares it with.
type Answered = any
type AnsweredRows = readonly Readonly<Record<string, Answered>>[]

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

async function openExplorer({ isKeyless = false, ...over }: ExplorerOptions, store?: Store) {
  const test = createKey('shared', { perSecond: 1_000_000, perDay: 1_000_000_000 }, { now: Date.now() })
  const withKey = isKeyless ? {} : { testKey: test.key, keys: [test.stored] }
  const service = serviceOn(store ?? (await loadedStore()), { explorer: true, ...withKey, ...over })
  /** The `data` of a call of the API, in which amounts are texts. */
  const call = async (action: string, params: Params = {}): Promise<Answered> => {
    const query = new URLSearchParams({ ...params, numbers: 'string', format: 'bare' })
    const headers = { 'x-api-key': service.key }
    const response = await service.ask(`${over.basePath ?? ''}/api/${action}?${query}`, { headers })
    if (response.status !== 200) throw new Error(`${action}?${query}: ${await response.text()}`)
    return response.json()
  }
  const rowsIn = (answer: object): AnsweredRows => {
    const rows = Object.values(answer).find(Array.isArray)
    if (rows === undefined) throw new Error(`${Object.keys(answer)} has no list.`)
    return rows
  }
  const visit = async (path: string, headers: Params = {}) => {
    const response = await service.ask(path, { headers: { accept: HTML, ...headers } })
    const isPage = response.headers.get('content-type')?.startsWith('text/html') === true
    return { ...(await readPage(isPage ? await response.clone().text() : '')), response }
  }
  return {
    ...{ ...service, call, visit },
    /** A page in English and in Chinese. */
    visitBoth: (path: string) => Promise.all([visit(path), visit(`/zh${path}`)]),
    list: async (action: string, params?: Params) => rowsIn(await call(action, params)),
    /** All rows of a list, page by page. */
    listAll: async (action: string, params: Params = {}): Promise<AnsweredRows> => {
      const rows: AnsweredRows[number][] = []
      for (let page = 1, total = 1; rows.length < total; page++) {
        const answer = await call(action, { ...params, size: '500', page: String(page) })
        rows.push(...rowsIn(answer))
        total = answer.total
      }
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
