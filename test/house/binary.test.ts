import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '#keys/key.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { askCase, type HttpCaseKeys, httpCases } from '../http/cases.ts'
import { type Running, spawnIn } from '../support/processes/cli-process.ts'
import { BINARY } from '../support/processes/program.ts'
import { loadedFile } from '../support/stores/loaded.ts'
import { ARCHIVED } from '../support/stores/loading.ts'

describe('the compiled binary, started from an empty folder', () => {
  let folder: string
  let service: Running | undefined
  let url: string
  let keys: HttpCaseKeys

  const run = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await spawnIn(folder, [BINARY, ...args]).ended
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`)
    return out.trim()
  }
  const urlIn = (text: string): string => /http:\/\/[\d.]+:\d+/.exec(text)?.[0] ?? ''

  beforeAll(async () => {
    if (!existsSync(BINARY)) throw new Error('There is no dist/iostlens: run scripts/build.')
    folder = await mkdtemp(join(tmpdir(), 'iostlens-binary-'))
    await mkdir(join(folder, 'data'))
    await copyFile(await loadedFile(), join(folder, 'data/iostlens.sqlite'))
    // It proves and derives the last blocks as those of every load.
    await run('load', '--node', ARCHIVED, '--once')
    const now = Date.now()
    const key = createKey('cases', { perSecond: 1_000_000, perDay: 1_000_000 }, { now })
    const revoked = createKey('revoked', { perSecond: 9, perDay: 9 }, { now })
    const expired = createKey('expired', { perSecond: 9, perDay: 9 }, { now: 0, expires: Date.UTC(2026, 0, 1) })
    const store = openSqlite({ path: join(folder, 'data/iostlens.sqlite') })
    for (const { stored } of [key, revoked, expired]) await store.keys.add(stored)
    await store.close()
    await run('keys', 'revoke', revoked.stored.id)
    keys = { key: key.key, revoked: revoked.key, expired: expired.key }
    // The contract cases expect a service whose metrics have a separate address.
    const listen = ['--listen', '127.0.0.1:0', '--metrics-listen', '127.0.0.1:0']
    service = spawnIn(folder, [BINARY, 'serve', ...listen])
    url = urlIn(await service.firstLine)
  })
  afterAll(async () => {
    if (folder === undefined) return
    service?.kill('SIGTERM')
    const ended = await service?.ended
    await rm(folder, { recursive: true })
    expect(ended?.code).toBe(0)
  })

  test('every contract case is answered', async () => {
    for (const one of await httpCases())
      expect(await askCase(one, (path, init) => fetch(url + path, init), keys)).toEqual(one)
  })

  test('actions, reference and health are answered', async () => {
    for (const path of ['/api/base/get-overview', '/health', '/ready', '/openapi.json', '/docs/en', '/docs/zh']) {
      const { status } = await fetch(url + path, { headers: { 'x-api-key': keys.key } })
      expect([path, status]).toEqual([path, 200])
    }
  })

  test('the built-in pictures are served', async () => {
    const explored = spawnIn(folder, [BINARY, 'serve', '--explorer', '--listen', '127.0.0.1:0'])
    const own = urlIn(await explored.firstLine)
    const page = await (await fetch(`${own}/account/admin`)).text()
    const preview = new URL(/og:image" content="([^"]*)"/.exec(page)?.[1] ?? '').pathname
    for (const path of [preview, '/apple-touch-icon.png']) {
      const response = await fetch(own + path)
      expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, 'image/png'])
      expect((await response.bytes()).subarray(0, 8).toHex()).toBe('89504e470d0a1a0a')
    }
    explored.kill('SIGTERM')
    expect((await explored.ended).code).toBe(0)
  })
})
