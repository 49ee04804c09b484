import type { ElasticStore } from '#store/elastic/open-elastic.ts'
import { type ElasticOptions, openElastic } from '#store/elastic/open-elastic.ts'
import { ask } from './ask-elastic.ts'
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

export type TestElastic = {
  readonly url: string
  /** Different for each call. No index exists yet. */
  readonly prefix: string
  readonly store: ElasticStore
  /** Another handle on the same indices, as a second process has. */
  readonly reopen: (options?: Partial<ElasticOptions>) => ElasticStore
  /** Changes the mapping of an existing index to a wrong one. */
  readonly spoil: () => Promise<void>
  /** Closes every handle and removes the indices. */
  readonly destroy: () => Promise<void>
}

/** An empty store, under a random prefix unless one is given. */
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
  return {
    url,
    prefix,
    store: reopen(),
    reopen,
    spoil: async () => {
      const other = { _meta: { schema: 1, fingerprint: 'other' } }
      await ask('PUT', `${url}/${prefix}-state-0/_mapping`, other)
    },
    destroy: async () => {
      for (const store of opened) await store.close()
      removeTestState(prefix)
      // Any host of the cluster can remove the indices.
      await removeIndices(url.replace(/,.*/, ''), prefix)
    },
  }
}

/** Removes every index with a prefix. */
async function removeIndices(url: string, prefix: string): Promise<void> {
  const names = Object.keys(await ask<object>('GET', `${url}/${prefix}-*?expand_wildcards=all`))
  // The first line of a request may have at most 4 KiB.
  for (let from = 0; from < names.length; from += 50)
    await ask('DELETE', `${url}/${names.slice(from, from + 50).join(',')}`)
}
