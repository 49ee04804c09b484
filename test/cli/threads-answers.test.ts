import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'

type Filled = { readonly address: string; readonly store: Store; readonly close: () => Promise<void> }

const sqlite = async (): Promise<Filled> => {
  const { path, store, destroy } = await temporarySqlite()
  return { address: `sqlite:${path}`, store, close: destroy }
}

const elastic = async (): Promise<Filled> => {
  const { url, prefix, store, destroy } = openTestElastic({ leaseMs: 15_000 })
  return { address: `${url}/${prefix}`, store, close: destroy }
}

const stores = [
  ['SQLite', sqlite, true] as const,
  ['Elasticsearch', elastic, elasticsearchUrl() !== undefined] as const,
]

for (const [name, open, isThere] of stores)
  describe.skipIf(!isThere)(`threads on ${name}`, () => {
    const { key, stored } = createKey('k', { perSecond: 1_000_000, perDay: 1_000_000 }, { now: Date.now() })
    let filled: Filled
    beforeAll(async () => {
      filled = await open()
      await fillFromRecording(filled.store, { to: 800 })
      await filled.store.keys.add(stored)
    })
    afterAll(() => filled.close())

    const paths = [1, 2, 3].flatMap(page => [
      `/api/?module=account&action=get-account-tx&account=admin&page=${page}&size=10`,
      `/api/?module=block&action=get-block-tx&number=${page * 250}`,
      `/api/?module=account&action=get-account-tx&account=nobody${page}`,
      '/api/?module=base&action=no-such-action',
    ])
    /** Every path is requested on separate connections, several times at once, so that each thread answers it. */
    const answers = async (threads: string): Promise<ReadonlySet<string>> => {
      await using folder = await cliFolder()
      const flags = ['--threads', threads, '--store', filled.address]
      const service = folder.start(['serve', '--listen', '127.0.0.1:0', ...flags])
      const url = await service.firstLine
      const ask = async (path: string): Promise<string> => {
        const headers = { 'X-API-Key': key, Connection: 'close' }
        const response = await fetch(url + path, { keepalive: false, headers })
        // A request may wait for a second on a busy machine and get 503. It is repeated.
        if (response.status === 503) return ask(path)
        const text = (await response.text()).replace(/"request_id":"[^"]*"/, '')
        return `${path} ${response.status} ${response.headers.get('etag')} ${text}`
      }
      const said: string[] = []
      for (const path of paths) said.push(...(await Promise.all(Array.from({ length: 8 }, () => ask(path)))))
      service.kill('SIGTERM')
      expect((await service.ended).code).toBe(0)
      return new Set(said)
    }

    test('2 threads give byte for byte the same answers as 1', async () => {
      const one = await answers('1')
      expect(one.size).toBe(new Set(paths).size)
      expect([...one].filter(answer => answer.includes(' 200 ')).length).toBe(6)
      expect(await answers('2')).toEqual(one)
    })
  })
