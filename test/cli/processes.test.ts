import { afterAll, describe, expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { readExposition } from '../support/exposition.ts'
import { askAlone } from '../support/processes/ask-alone.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { elasticPlace, type Place, sqlitePlace } from '../support/stores/place.ts'
import { until } from '../support/wait.ts'
import { stop } from './folder.ts'

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
