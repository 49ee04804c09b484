import { beforeAll, expect, test } from 'bun:test'
import { actions } from '#actions/registry.ts'
import { formatRoute, operationId } from '#http/openapi/action-operation.ts'
import { type ClientAction, clientModuleOf, clientOf, type ServedClient } from '../../support/processes/client.ts'
import { type Service, serviceOn } from '../../support/processes/service.ts'
import { SOAK } from '../../support/processes/soak.ts'
import { loadedStore } from '../../support/stores/loaded.ts'

let service: Service
let client: ServedClient
beforeAll(async () => {
  service = serviceOn(await loadedStore())
  client = await clientOf(service)
})

function actionOf(name: string, of = client): ClientAction {
  const found = of[name]
  if (found === undefined) throw new Error(`The client has no ${name}.`)
  return found
}

const all = <T>(rows: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(rows)

const withoutPage = ({ page, size, ...rest }: Readonly<Record<string, string>>) => rest

test('client: every action is answered with the data of the service, with numbers as text', async () => {
  for (const action of actions) {
    const query = new URLSearchParams({ ...action.example, numbers: 'string' })
    const asked = await service.ask(`${formatRoute(action)}?${query}`, { headers: { 'x-api-key': service.key } })
    const { data } = (await asked.json()) as { readonly data: unknown }
    expect([action.action, await actionOf(operationId(action))(action.example)]).toEqual([action.action, data])
  }
})

test.each(actions.filter(({ list }) => list !== undefined).map(action => [operationId(action), action] as const))(
  'client: pages, rows and the whole list of %s are the same',
  async (name, { list = '', params, example }) => {
    const action = actionOf(name)
    // Of long lists the beginning is enough, except in long runs.
    const part = SOAK || params.properties['end_seq'] === undefined ? {} : { end_seq: '1500' }
    const given = { ...withoutPage(example), ...part }
    const whole = await all(action.whole(given))
    const isPaged = params.properties['page'] !== undefined
    if (!isPaged) {
      expect(Reflect.get(Object(await action(given)), list)).toEqual(whole)
      return
    }
    // Several pages, but not hundreds for a long list.
    const size = Math.min(500, Math.max(1, Math.ceil(whole.length / 5)))
    const pages = await all(action.pages({ ...given, size }))
    expect(pages.map(({ page }) => page)).toEqual(pages.map((_page, at) => at + 1))
    expect(pages.flatMap(page => Reflect.get(page, list))).toEqual(whole)
    expect(await all(action.rows({ ...given, size }))).toEqual(whole)
    if (params.properties['sort'] !== undefined)
      expect(await all(action.rows({ ...given, sort: 'asc', size }))).toEqual(whole.toReversed())
  },
)

test('client: a whole list ends with its height and its number of rows', async () => {
  const whole = actionOf('getTokenHolder').whole({ token: 'iost' })
  let rows = 0
  let end = await whole.next()
  for (; end.done !== true; end = await whole.next()) rows++
  expect([rows > 100, end.value]).toEqual([true, { rows, block_height: '4851' }])
})

test.each([
  ['before its last line', (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)],
  ['in its last line', (text: string) => text.slice(0, -8)],
  ['in a row', (text: string) => text.slice(0, text.indexOf('\n') + 9)],
  ['before its first line', () => ''],
])('client: a whole list that is cut off %s is an error', async (_name, cut) => {
  const broken = await clientOf(service, {
    fetch: async (url, init) => {
      const response = await service.ask(url.slice('http://inside'.length), init)
      return new Response(cut(await response.text()), response)
    },
  })
  await expect(all(actionOf('getTokenHolder', broken).whole({ token: 'iost' }))).rejects.toThrow(
    /^The list broke off after \d+ rows\.$/,
  )
})

test('client: a refusal has the status, code, message and id of its request', async () => {
  const { IostlensError } = await clientModuleOf(service)
  const chinese = await clientOf(service, { lang: 'zh' })
  await expect(chinese['getAccountDetail']?.({ account: 'nobody_here' })).rejects.toMatchObject({
    name: IostlensError.name,
    message: expect.stringMatching(/nobody_here.*\p{Script=Han}|\p{Script=Han}.*nobody_here/u),
    status: 404,
    code: 4040,
    requestId: expect.stringMatching(/^[0-9a-f]{16}$/),
    retryAfter: undefined,
  })
})

test('client: an answer that is not from the service is reported as such', async () => {
  const behind = await clientOf(service, {
    fetch: async () => new Response('<h1>Bad Gateway</h1>', { status: 502 }),
  })
  await expect(behind['getOverview']?.()).rejects.toMatchObject({ status: 502, code: 0, requestId: '' })
})

test('client: when a key exceeds its rate, the client waits for Retry-After and then returns the answer', async () => {
  const statuses: number[] = []
  const begun = Date.now()
  const slow = serviceOn(await loadedStore(), {
    plan: { perSecond: 1, perDay: 1_000 },
    // However late the second one asks, it is too soon.
    now: () => (statuses.includes(429) ? Date.now() : begun),
  })
  const waiting = await clientOf(slow, {
    fetch: async (url, init) => {
      const response = await slow.ask(url.slice('http://inside'.length), init)
      statuses.push(response.status)
      return response
    },
  })
  const answers = await Promise.all([1, 2, 3].map(() => waiting['getOverview']?.()))
  expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
  expect(statuses.filter(status => status === 200)).toHaveLength(3)
  expect(statuses).toContain(429)
})

test('client: a Retry-After longer than the caller’s limit fails at once, with that time', async () => {
  const used = serviceOn(await loadedStore(), { plan: { perSecond: 1_000, perDay: 1 } })
  const asked = await clientOf(used)
  await asked['getOverview']?.()
  await expect(asked['getOverview']?.()).rejects.toMatchObject({
    status: 429,
    code: 4290,
    retryAfter: expect.any(Number),
  })
})

test('client: a network failure is retried a few times', async () => {
  let asked = 0
  const shaky = await clientOf(service, {
    fetch: async (url, init) => {
      if (++asked === 1) throw new TypeError('The connection was closed.')
      return service.ask(url.slice('http://inside'.length), init)
    },
  })
  expect(await shaky['getOverview']?.()).toMatchObject({ token_count: 28 })
  expect(asked).toBe(2)
  asked = 0
  const once = await clientOf(service, {
    retries: 0,
    fetch: async () => {
      asked++
      throw new TypeError('The connection was closed.')
    },
  })
  await expect(once['getOverview']?.()).rejects.toThrow('The connection was closed.')
  expect(asked).toBe(1)
})

test('client: a signal ends a request and a wait', async () => {
  const reason = new Error('no longer wanted')
  await expect(actionOf('getOverview')({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const waiting = new AbortController()
  const away = await clientOf(service, {
    fetch: async () => {
      setTimeout(() => waiting.abort(reason))
      return new Response('{}', { status: 503, headers: { 'Retry-After': '59' } })
    },
  })
  await expect(away['getOverview']?.({}, { signal: waiting.signal })).rejects.toBe(reason)
})
