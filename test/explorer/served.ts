import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { type ReadPage, readPage } from './read-page.ts'

/** The explorer with the whole recorded chain. */
export type Explorer = Service & {
  /** Requests a page as a browser does. */
  visit(path: string, headers?: Readonly<Record<string, string>>): Promise<ReadPage & { readonly response: Response }>
  /** The `data` of a call of the API, in which amounts are texts. */
  call<T>(action: string, params?: Readonly<Record<string, string>>): Promise<T>
}

export const HTML = 'text/html,application/xhtml+xml'

/**
 * @param over options of the service, such as its base path; `isKeyless`: visitors get no test key.
 * @param store a store with another chain than the recorded one.
 */
export async function explorerOn(
  { isKeyless = false, ...over }: Parameters<typeof serviceOn>[1] & { readonly isKeyless?: boolean } = {},
  store?: Store,
): Promise<Explorer> {
  const shared = createKey('shared', { perSecond: 1_000_000, perDay: 1_000_000_000 }, { now: Date.now() })
  const options = {
    explorer: true,
    ...(isKeyless ? {} : { testKey: shared.key, keys: [shared.stored] }),
    ...over,
  }
  const service = serviceOn(store ?? (await loadedStore()), options)
  const { basePath = '' } = options
  return {
    ...service,
    visit: async (path, headers = {}) => {
      const response = await service.ask(path, { headers: { accept: HTML, ...headers } })
      const isPage = response.headers.get('content-type')?.startsWith('text/html') === true
      return { ...(await readPage(isPage ? await response.clone().text() : '')), response }
    },
    call: async (action, params = {}) => {
      const query = new URLSearchParams({ ...params, numbers: 'string', format: 'bare' })
      const response = await service.ask(`${basePath}/api/${action}?${query}`, {
        headers: { 'x-api-key': service.key },
      })
      if (response.status !== 200) throw new Error(`${action}?${query}: ${await response.text()}`)
      return (await response.json()) as never
    },
  }
}
