import { wealth } from '#indices/wealth.ts'
import type { Store } from '#store/port.ts'

/** First steps, printed when everything is loaded: the shared test key, and calls that work on any chain. */
export async function welcome(options: {
  readonly url: string
  /** The way to call a path of the service. */
  readonly callOf: (path: string) => string
  /** The shared test key, or `off`. */
  readonly testKey: string
  /** Whether the pages of the explorer are served. */
  readonly isExplored: boolean
  readonly store: Pick<Store, 'name' | 'read'>
}): Promise<readonly string[]> {
  const { url, callOf, testKey, isExplored, store } = options
  const { height, richest } = await store.read(async view => ({
    height: view.at.height,
    richest: (await view.page(wealth, 'richest', { offset: 0, limit: 1 }))[0]?.owner,
  }))
  const key = testKey === 'off' ? 'YOUR_KEY' : testKey
  const call = (module: string, action: string, parameters = ''): string =>
    `  ${callOf(`/api/?module=${module}&action=${action}${parameters}&apikey=${key}`)}`
  return [
    '',
    `Loaded up to block ${height}, the last irreversible block. Serving on ${url}`,
    ...(isExplored && url.startsWith('http') ? [`Open ${url}/ in a browser to see it.`] : []),
    '',
    testKey === 'off'
      ? `No shared test key is enabled; create a key with 'iostlens keys add NAME --store ${store.name}'.`
      : `Shared test key: ${testKey}`,
    '',
    'Try:',
    call('base', 'get-overview'),
    call('base', 'get-wealth-list', '&size=10'),
    call('block', 'get-latest-block'),
    call('block', 'get-block-detail', '&number=1'),
    call('token', 'get-token-holder', '&token=iost'),
    ...(richest === undefined ? [] : [call('account', 'get-account-tx', `&account=${encodeURIComponent(richest)}`)]),
    `  ${callOf('/docs/en')}`,
    '',
  ]
}
