import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey, createNextKey, KEY_PATTERN } from '#keys/key.ts'
import { groupHolders, hashOfKey } from '#keys/keyring.ts'
import type { StoredKey } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { parseKeys } from '#transfer/keys.ts'
import { readExposition } from '../support/exposition.ts'
import { askAlone } from '../support/processes/ask-alone.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { elasticPlace, type Place, sqlitePlace } from '../support/stores/place.ts'
import { until } from '../support/wait.ts'
import { expectEnd, readLastLine, stop } from './folder.ts'

test('keys: the first key creates the store, and says so; the list shows no key', async () => {
  await using folder = await cliFolder()
  const created = 'Created the store sqlite:data/iostlens.sqlite: it did not exist.\n'
  const first = await folder.run(['keys', 'add', 'my wallet', '--per-second', '100000', '--expires=1d'])
  const second = await folder.run(['keys', 'add', 'y'])
  expect([first.code, first.out.startsWith(created), first.err, second.code]).toEqual([0, true, '', 0])
  expect(second.out).not.toContain('Created')
  const key = readLastLine(first.out)
  expect(key).toMatch(KEY_PATTERN)
  const { out } = await folder.run(['keys', 'list'])
  expect(out).not.toContain(key)
  const [head, row] = out.split('\n')
  expect(head).toMatch(/^ID +PER SECOND +PER DAY +CREATED +EXPIRES +STATE +NAME$/)
  expect(row).toMatch(/^[0-9a-f]{10} +100000 +200000 +\S+ +\S+ +valid +my wallet$/)
  expect(first.out).toContain(row?.split(' ')[0] ?? '')
})

test('keys: a key is shown, changed, rotated with a grace period, and revoked with all its successors', async () => {
  await using folder = await cliFolder()
  const run = async (...args: readonly string[]) => {
    const { code, out, err } = await folder.run(['keys', ...args])
    return { code, out, err, last: readLastLine(out) }
  }
  const added = await run('add', 'wallet', '--plan', 'small', '--note', 'Ada, 2nd', '--json')
  const { id, key, ...plan } = JSON.parse(added.last)
  expect([added.code, plan]).toEqual([0, { name: 'wallet', per_second: 5, per_day: 10000 }])
  const shown = async () => JSON.parse((await run('show', id, '--json')).last)
  expect(await shown()).toMatchObject({
    ...{ id, name: 'wallet', note: 'Ada, 2nd', plan: 'small', state: 'valid', expires: null, rotated: null },
    ...{ requests_today: 0, requests_30_days: 0, last_used: null },
  })

  const service = folder.start(['serve', '--listen', '127.0.0.1:0'])
  const url = await service.firstLine
  const ask = async (with_: string) => (await fetch(`${url}/rpc/getNodeInfo?apikey=${with_}`)).status
  const usage = async (with_: string) => {
    const response = await fetch(`${url}/usage`, { headers: { 'X-API-Key': with_ } })
    return { status: response.status, data: JSON.parse(await response.text()).data }
  }
  // The key is accepted, but there is no node.
  expect([await ask(key), await ask(key)]).toEqual([503, 503])
  expect(await usage(key)).toMatchObject({
    status: 200,
    data: { id, name: 'wallet', expires: null, today: { limit: 10000, used: 2, remaining: 9998 } },
  })
  await until(async () => (await shown()).requests_today === 2, 50)
  expect(Date.parse((await shown()).last_used)).toBeGreaterThan(Date.parse((await shown()).created))

  const changed = await run('change', id, '--per-day', '700', '--note', 'off', '--rename', 'purse')
  expect(changed).toMatchObject({ code: 0, out: `Changed key ${id}.\n` })
  expect(await shown()).toMatchObject({ name: 'purse', note: null, plan: null, per_second: 5, per_day: 700 })
  await until(async () => (await usage(key)).data.today.limit === 700, 50)

  const rotated = await run('rotate', id, '--grace', '1d')
  // The service may use a list of keys that it read a moment ago.
  await until(async () => (await usage(rotated.last)).status === 200, 50)
  expect([rotated.code, rotated.last === key, await ask(rotated.last), await ask(key)]).toEqual([0, false, 503, 503])
  // The old and the new key share one plan.
  expect((await usage(rotated.last)).data.today).toMatchObject({ limit: 700, used: 4 })
  expect(await shown()).toMatchObject({ id, name: 'purse', per_day: 700, former_until: [expect.any(String)] })

  const again = await run('rotate', id, '--grace', '0s')
  // This interval stays within the plan of five requests a second.
  const refused = (with_: string) => until(async () => (await ask(with_)) === 403, 250)
  await refused(rotated.last)
  await refused(key)
  await until(async () => (await ask(again.last)) === 503, 250)
  expect((await run('list', '--counts')).out).toMatch(/ TODAY +30 DAYS +LAST USE +STATE +NAME\n.+\n$/)

  expect((await run('revoke', id)).code).toBe(0)
  await refused(again.last)
  expect((await usage(again.last)).status).toBe(403)
  expect(await shown()).toMatchObject({ state: 'revoked' })
  expect(await run('rotate', id)).toMatchObject({ code: 2, out: '' })
  await stop(service)
})

test('keys: a change that is not possible is a usage error with a reason', async () => {
  await using folder = await cliFolder()
  const added = await folder.run(['keys', 'add', 'x', '--json'])
  const { id } = JSON.parse(readLastLine(added.out))
  const absent = "There is no key with the id 'nobody'."
  for (const [args, says] of [
    [['change', id], 'No change is given.'],
    [['change', 'nobody', '--plan', 'large'], absent],
    [['change', id, '--plan', 'huge'], '--plan'],
    [['change', id, '--rename', ' x'], 'Key name'],
    [['show', 'nobody'], absent],
    [['rotate', 'nobody'], absent],
    [['revoke', 'nobody'], `${absent}\n  'iostlens keys list' prints the ids.`],
    [['add', ' '], 'Key name'],
    [['add', 'x', '--per-second', '0'], '--per-second'],
  ] as const)
    await expectEnd(folder, ['keys', ...args], 2, says)
})

test('keys rotate: a former key that expires before the grace period ends is said to work until then', async () => {
  await using folder = await cliFolder()
  const run = async (...args: readonly string[]) =>
    JSON.parse(readLastLine((await folder.run(['keys', ...args, '--json'])).out))
  const { id } = await run('add', 'x', '--expires', '1d')
  const { expires } = await run('show', id)
  expect((await run('rotate', id, '--grace', '7d')).former_until).toBe(expires)
  expect((await run('show', id)).former_until).toEqual([expires])
})

test('keys show: after a rotate that was cut off, the former key works until it is revoked', async () => {
  await using folder = await cliFolder()
  const { stored } = createKey('x', { perSecond: 1, perDay: 1 }, { now: 1 })
  const next = groupHolders([stored]).map(holder => createNextKey(holder, { now: 2 }).stored)
  const path = await makeStore(folder, [stored, ...next])
  const show = ['keys', 'show', stored.id, '--store', `sqlite:${path}`]
  await expectEnd(folder, show, 0, 'Former key: works until it is revoked\n')
  expect(JSON.parse((await folder.run([...show, '--json'])).out).former_until).toEqual([null])
})

const MANY = 3_000
const keys: readonly StoredKey[] = Array.from({ length: MANY }, (_, number) => ({
  ...{ id: hashOfKey(`id ${number}`).slice(0, 10), hash: hashOfKey(`key ${number}`), name: `holder ${number} 猫` },
  ...{ perSecond: 1 + number, perDay: 100 + number, created: 1_767_225_600_000 },
  ...(number % 3 === 0 ? { note: 'a note' } : {}),
  ...(number % 5 === 0 ? { expires: 1_900_000_000_000 } : {}),
  ...(number % 7 === 0 ? { revoked: 1_800_000_000_000 } : {}),
}))
const byId = (all: readonly StoredKey[]) => all.toSorted((a, b) => (a.id < b.id ? -1 : 1))

async function storeIn<T>(path: string, work: (store: ReturnType<typeof openSqlite>) => Promise<T>): Promise<T> {
  const store = openSqlite({ path })
  return await work(store).finally(() => store.close())
}

/** The path of a new store with some of the keys. */
async function makeStore(folder: CliFolder, of = keys): Promise<string> {
  const path = join(folder.path, 'one.sqlite')
  await storeIn(path, async store => {
    await store.create()
    await store.keys.add(...of)
  })
  return path
}

test('keys export, keys import: another store gets the same keys, and a repetition changes nothing', async () => {
  await using folder = await cliFolder()
  const [one, two] = [await makeStore(folder), join(folder.path, 'two.sqlite')]
  const file = join(folder.path, 'keys.ndjson')
  const exported = await folder.run(['keys', 'export', file, '--store', `sqlite:${one}`])
  expect(exported).toMatchObject({ code: 0, out: `Wrote ${MANY} API keys of sqlite:${one} to ${file}.\n` })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(byId(parseKeys(readFileSync(file, 'utf8'), file).keys)).toEqual(byId(keys))
  const imported = () => folder.run(['keys', 'import', file, '--store', `sqlite:${two}`])
  for (let times = 0; times < 2; times++) {
    expect(await imported()).toMatchObject({ code: 0 })
    expect(await storeIn(two, async store => byId(await store.keys.list()))).toEqual(byId(keys))
  }
  // A key that was revoked in the store since stays revoked.
  const valid = keys.find(({ revoked }) => revoked === undefined)?.id ?? ''
  await storeIn(two, store => store.keys.revoke(valid, 5))
  expect((await imported()).code).toBe(0)
  const revoked = await storeIn(two, async store => (await store.keys.list()).find(({ id }) => id === valid)?.revoked)
  expect(revoked).toBe(5)
  // An export replaces no file.
  expect((await folder.run(['keys', 'export', file, '--store', `sqlite:${one}`])).code).toBe(2)
})

test('keys import: a file that is cut or changed is refused, with what is wrong', async () => {
  await using folder = await cliFolder()
  await makeStore(folder, keys.slice(0, 3))
  const file = join(folder.path, 'keys.ndjson')
  expect((await folder.run(['keys', 'export', file, '--store', 'sqlite:one.sqlite'])).code).toBe(0)
  const text = readFileSync(file, 'utf8')
  const lines = text.split('\n')
  for (const [changed, says] of [
    [text.slice(0, text.indexOf('\n') + 1), 'has no last line with the number of its keys'],
    [lines.slice(1).join('\n'), 'has 2 keys, but its last line says 3'],
    [text.replace('"perDay":100', '"perDay":0'), 'that is not a key'],
    [text.replace(/"hash":"../, '"hash":"xx'), 'that is not a key'],
    [[lines[0], lines[0], ...lines.slice(2)].join('\n'), 'twice'],
    ['', 'has no last line'],
  ] as const)
    expect(() => parseKeys(changed, file)).toThrow(says)
  writeFileSync(file, text.slice(0, -1))
  await expectEnd(folder, ['keys', 'import', file, '--store', 'sqlite:two.sqlite'], 2, 'does not end with a line end')
  expect((await folder.run(['keys', 'list', '--store', 'sqlite:two.sqlite'])).code).toBe(2)
})

test('keys export: from a damaged file all keys that can be read are written', async () => {
  await using folder = await cliFolder()
  const path = await makeStore(folder)
  const database = new Database(path)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const size = Number(Object.values(database.query('PRAGMA page_size').get() as object)[0])
  database.close()
  // Destroys some leaves of the table's tree: the first byte of a page says what it is, the fourth and fifth how many
  // rows it has (sqlite.org/fileformat2.html#b_tree_pages).
  const bytes = readFileSync(path)
  const pages = new Set(keys.map(({ hash }) => Math.floor(bytes.indexOf(hash) / size) * size))
  const leaves = [...pages].filter(at => bytes[at] === 10).filter((_, at) => at % 30 === 15)
  const lost = leaves.reduce((sum, at) => sum + bytes.readUInt16BE(at + 3), 0)
  expect([leaves.length >= 3, lost > 0, lost < MANY / 2]).toEqual([true, true, true])
  for (const at of leaves) bytes.fill(0xff, at, at + size)
  writeFileSync(path, bytes)
  const file = join(folder.path, 'keys.ndjson')
  await expectEnd(folder, ['keys', 'export', file, '--store', `sqlite:${path}`], 3, 'Others could not be read')
  const { keys: saved, isWhole } = parseKeys(readFileSync(file, 'utf8'), file)
  const known = new Map(keys.map(key => [key.id, key]))
  expect([isWhole, saved.length]).toEqual([false, MANY - lost])
  expect(saved.map(key => [key.id, key])).toEqual(saved.map(({ id }) => [id, known.get(id) as StoredKey]))
  const other = join(folder.path, 'two.sqlite')
  await expectEnd(folder, ['keys', 'import', file, '--store', `sqlite:${other}`], 0, 'it may lack keys')
})

const places: Place[] = []
afterAll(async () => {
  for (const place of places) await place.destroy()
})

/** A store with a key of `perDay` requests, and the number of them that it has counted. */
async function placeWithKey(open: () => Promise<Place>, perDay: number) {
  const place = await open()
  places.push(place)
  await place.store.create()
  const { key, stored } = createKey('wallet', { perSecond: 1_000, perDay }, { now: Date.now() })
  await place.store.keys.add(stored)
  const used = async (): Promise<number> => {
    const days = await place.store.usage.since(0)
    return days.find(each => each.key === stored.id)?.requests ?? 0
  }
  return { place, key, used }
}

const storeOf = ({ args: [type, ...where] }: Place): string =>
  type === 'sqlite' ? `sqlite:${where[0]}` : `${where[0]}/${where[1]}`

function cases(open: () => Promise<Place>): void {
  test('keys: services on one store share the count of a day, also after a SIGKILL', async () => {
    const { place, key, used } = await placeWithKey(open, 60)
    await using folder = await cliFolder()
    /** A service with its own data folder, as on another machine. */
    const start = async (data: string) => {
      const service = folder.start(['serve', '--store', storeOf(place), '--data', data, '--listen', '127.0.0.1:0'])
      const url = await service.firstLine
      // Without a node, each call within the limit gets 503.
      const ask = async () => {
        const { status, headers } = await askAlone(`${url}/rpc/getNodeInfo?apikey=${key}`)
        return { status, left: Number(headers.get('ratelimit-remaining')) }
      }
      return { service, ask }
    }
    const [one, two] = [await start('one'), await start('two')]
    for (let times = 0; times < 5; times++) await one.ask()
    for (let times = 0; times < 4; times++) await two.ask()
    await until(async () => (await used()) >= 9, 20)
    one.service.kill('SIGKILL')
    await one.service.ended
    expect(await used()).toBe(9)

    const three = await start('three')
    expect(await three.ask()).toEqual({ status: 503, left: 50 })
    await until(async () => (await used()) >= 10, 20)
    // The second service reads the counts of the others, and each of its own requests counts once.
    let asked = 0
    await until(async () => {
      const { left } = await two.ask()
      asked += 1
      expect(left).toBeGreaterThanOrEqual(60 - 10 - asked)
      return left === 60 - 10 - asked
    }, 50)
    await Promise.all([stop(two.service), stop(three.service)])
    expect(await used()).toBe(10 + asked)
  })
}

describe('SQLite', () => cases(sqlitePlace))
if (elasticsearchUrl() !== undefined) describe('Elasticsearch', () => cases(() => elasticPlace(1_000_000)))

test('processes: two on one port and one SQLite file both answer, and count the requests of a day exactly', async () => {
  const { place, key, used } = await placeWithKey(sqlitePlace, 100)
  await using folder = await cliFolder()
  const start = async (port: string) => {
    const shared = ['--listen', `127.0.0.1:${port}`, '--reuse-port', '--metrics-listen', '127.0.0.1:0']
    const service = folder.start(['serve', '--store', storeOf(place), ...shared])
    const { port: own } = new URL(await service.firstLine)
    await service.logs('Serving metrics.')
    const [metrics = ''] = /http:\/\/\S+\/metrics/.exec(service.logged()) ?? []
    const answered = async (): Promise<number> =>
      readExposition(await (await fetch(metrics)).text()).sum('iostlens_http_requests_total', { route: 'rpc' })
    return { service, port: own, answered }
  }
  const one = await start('0')
  const two = await start(one.port)
  const ask = async (): Promise<number> =>
    (await askAlone(`http://127.0.0.1:${one.port}/rpc/getNodeInfo?apikey=${key}`)).status
  // Without a node, each call within the limit gets 503.
  expect(new Set(await Promise.all(Array.from({ length: 80 }, ask)))).toEqual(new Set([503]))
  expect((await Promise.all([one.answered(), two.answered()])).every(count => count > 0)).toBe(true)
  await until(async () => (await used()) === 80, 20)
  let allowed = 80
  // Each process knows the requests of the other within a second, and then refuses all.
  for (let refused = 0; refused < 100; await Bun.sleep(20)) {
    const status = await ask()
    if (status === 503) allowed += 1
    refused = status === 429 ? refused + 1 : 0
  }
  expect(allowed).toBeGreaterThanOrEqual(100)
  await Promise.all([stop(one.service), stop(two.service)])
  expect(await used()).toBe(allowed)
})
