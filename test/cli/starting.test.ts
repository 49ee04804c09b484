import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '#test/support/wait.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { freePort } from '../support/processes/free-port.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'

const stores = [
  [
    'SQLite',
    true,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'iostlens-starting-'))
      const store = `sqlite:${join(folder, 'chain.sqlite')}`
      return { store, close: () => rm(folder, { recursive: true }) }
    },
  ],
  [
    'Elasticsearch',
    elasticsearchUrl() !== undefined,
    async () => {
      const { url, prefix, destroy } = openTestElastic()
      return { store: `${url}/${prefix}`, close: destroy }
    },
  ],
] as const

const FEED = '/api/?module=base&action=get-block-list&format=sse'
const QUERY = '/api/?module=base&action=get-overview'

describe.each(stores.filter(([, isThere]) => isThere))('start on %s', (_, _isThere, open) => {
  test('during the start, each refusal is a valid envelope, and a feed is a stream', async () => {
    const { store, close } = await open()
    await using folder = await cliFolder()
    const created = await folder.run(['indices', 'create', '--store', store])
    expect([created.code, created.err]).toEqual([0, ''])
    const url = `http://127.0.0.1:${await freePort()}`
    const service = folder.start(['serve', '--store', store, '--listen', new URL(url).host, '--threads', '2'])
    const wrong: string[] = []
    /** Whether a serving thread answered. Serving threads refuse a request without a key. */
    const isServed = async (path: string): Promise<boolean> => {
      const response = await fetch(`${url}${path}`, { keepalive: false }).catch(() => undefined)
      const text = await response?.text().catch(() => undefined)
      // No process listens yet, or the starting process has just closed its socket.
      if (response === undefined || text === undefined) return false
      const { status, headers } = response
      if (status === 401) return true
      const isRight =
        path === FEED
          ? status === 200 && text.startsWith('retry: ')
          : status === 503 && text.startsWith('{"code":5030,') && headers.get('retry-after') === '1'
      if (!isRight) wrong.push(`${path}: ${status} ${text}`)
      return false
    }
    await until(async () => (await Promise.all([isServed(QUERY), isServed(FEED)])).every(Boolean), 1)
    await service.firstLine
    expect(wrong).toEqual([])
    service.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
    await close()
  })
})
