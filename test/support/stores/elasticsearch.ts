import { type ElasticOptions, type ElasticStore, openElastic } from '#store/elastic/open-elastic.ts'
import { type Asked, type Fate, openProxy, pass } from '../nodes/faulty-proxy.ts'
import { ask as askElastic } from './ask-elastic.ts'
import { openTestState, removeTestState } from './test-state.ts'

/**
 * URL of the Elasticsearch for the tests: ELASTICSEARCH_URL, as `scripts/elasticsearch start` prints it. undefined:
 * there is none, and tests that need one skip themselves and say so. With CI set, a missing URL is an error.
 */
export function elasticsearchUrl(): string | undefined {
  const { ELASTICSEARCH_URL: url, CI } = process.env
  if (url !== undefined && url !== '') return url.replace(/\/+$/, '')
  const reason = 'ELASTICSEARCH_URL is not set: run scripts/elasticsearch start, or scripts/test'
  if (CI !== undefined && CI !== '') throw new Error(`${reason}.`)
  process.stderr.write(`\nSKIPPED: TESTS ON ELASTICSEARCH. ${reason}.\n\n`)
  return undefined
}

/** Short, so that a test that waits for the lease of a dead loader is fast. */
const LEASE_MS = 600

export type TestElastic = AsyncDisposable & {
  readonly url: string
  /** Different for each call. No index exists yet. */
  readonly prefix: string
  readonly store: ElasticStore
  /** Another handle on the same indices, as a second process has. */
  readonly reopen: (options?: Partial<ElasticOptions>) => ElasticStore
  /** A request without the store's code. The path follows `URL/PREFIX-`. Throws unless the status is 2xx. */
  readonly ask: <T>(method: string, path: string, body?: object) => Promise<T>
  /** Changes the mapping of an existing index to a wrong one. */
  readonly spoil: () => Promise<void>
  /** Closes every handle and removes the indices. */
  readonly destroy: () => Promise<void>
}

export function openTestElastic(options: Partial<ElasticOptions> = {}): TestElastic {
  const url = options.url ?? elasticsearchUrl()
  if (url === undefined) throw new Error('There is no Elasticsearch to test on.')
  const prefix = options.prefix ?? `test-${crypto.randomUUID().slice(0, 13)}`
  const opened: ElasticStore[] = []
  const reopen = (more: Partial<ElasticOptions> = {}): ElasticStore => {
    const store = openElastic({
      ...{ url, prefix, leaseMs: LEASE_MS, openStateFile: of => openTestState(prefix, of) },
      ...options,
      ...more,
    })
    opened.push(store)
    return store
  }
  // Any host of the cluster can answer.
  const host = url.replace(/,.*/, '')
  const ask: TestElastic['ask'] = (method, path, body) => askElastic(method, `${host}/${prefix}-${path}`, body)
  const destroy = async (): Promise<void> => {
    for (const store of opened) await store.close()
    removeTestState(prefix)
    const names = Object.keys(await ask<object>('GET', '*?expand_wildcards=all'))
    // The first line of a request may have at most 4 KiB.
    for (let from = 0; from < names.length; from += 50)
      await askElastic('DELETE', `${host}/${names.slice(from, from + 50).join(',')}`)
  }
  return {
    url,
    prefix,
    store: reopen(),
    reopen,
    ask,
    spoil: async () => {
      await ask('PUT', 'state-0/_mapping', { _meta: { schema: 1, fingerprint: 'other' } })
    },
    destroy,
    [Symbol.asyncDispose]: destroy,
  }
}

export type BehindProxy = Awaited<ReturnType<typeof openBehindProxy>>

/** An empty store and a proxy in front of its server. `faults.fateOf` decides about the requests of `through`. */
export async function openBehindProxy(options: Partial<ElasticOptions> = {}) {
  const target = openTestElastic()
  const faults: { fateOf: (asked: Asked) => Fate } = { fateOf: () => pass }
  const proxy = await openProxy(target.url, asked => faults.fateOf(asked))
  const through = target.reopen({ url: proxy.url, ...options })
  await target.store.create()
  return {
    ...{ target, faults, through },
    url: proxy.url,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await through.close()
      await proxy.close()
      await target.destroy()
    },
  }
}
