import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { systemClock } from '#time/clock.ts'

const service = serviceOn(await loadedStore())

/** The example call of an action. */
const exampleUrl = ({ module, action, example }: ApiAction): string =>
  `/api/?${new URLSearchParams({ apikey: service.key, module, action, ...example })}`

const ask = (query: string, init?: RequestInit) => service.ask(`/api/?apikey=${service.key}&${query}`, init)
const HOLDERS = 'module=token&action=get-token-holder&token=iost&size=2'

/** A store without blocks. */
const { store, destroy } = await temporarySqlite()
beforeAll(() => store.create())
afterAll(destroy)

async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const { request_id: _, ...body } = (await response.json()) as Record<string, unknown>
  return { status: response.status, ...body }
}

test('every example is answered, and equally at every address of the API', async () => {
  for (const action of actions) {
    const path = exampleUrl(action)
    const response = await service.ask(path)
    const text = await response.text()
    expect([action.action, response.status]).toEqual([action.action, 200])
    expect(text).toStartWith('{"code":0,"message":"OK","data":{')
    expect(await (await service.ask(path.replace('/api/', '/api'))).text()).toBe(text)
    const { module, action: name, example } = action
    const own = `${module}/${name}`
    for (const route of [own, `${own}/`, own.toUpperCase()]) {
      const query = new URLSearchParams({ apikey: service.key, ...example })
      const routed = await service.ask(`/api/${route}?${query}`)
      expect([routed.headers.get('etag'), await routed.text()]).toEqual([response.headers.get('etag'), text])
    }
    const loud = path.replace(action.action, action.action.toUpperCase())
    expect(await (await service.ask(`${loud}&_=1&t=2&timestamp=3`)).text()).toBe(text)
    const bare = await (await service.ask(`${path}&format=bare`)).text()
    expect(`{"code":0,"message":"OK","data":${bare}}`).toBe(text)
  }
})

test('headers give the height of the answer and the rules for caches', async () => {
  const { headers } = await ask(HOLDERS)
  const { etag, 'x-request-id': id, 'content-length': length, ...rest } = headers.toJSON()
  expect(rest).toEqual({
    'access-control-allow-origin': '*',
    'access-control-expose-headers':
      'ETag, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Block-Height, X-Block-Time, X-Head-Height, X-Head-Status, X-Request-Id, X-Total-Count, Content-Disposition',
    'cache-control': 'private, max-age=1',
    'content-type': 'application/json; charset=utf-8',
    link:
      '<?module=token&action=get-token-holder&token=iost&size=2&page=1>; rel="first", ' +
      '<?module=token&action=get-token-holder&token=iost&size=2&page=2>; rel="next", ' +
      '<?module=token&action=get-token-holder&token=iost&size=2&page=96>; rel="last"',
    'ratelimit-limit': '1000000',
    'ratelimit-remaining': expect.any(String),
    'ratelimit-reset': '1',
    'referrer-policy': 'no-referrer',
    vary: 'X-API-Key, Accept-Encoding',
    'x-block-height': '4851',
    'x-block-time': '2026-11-21T08:25:32.500Z',
    'x-content-type-options': 'nosniff',
  })
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  expect(id).toMatch(/^[0-9a-f]{16}$/)
  expect(Number(length)).toBeGreaterThan(100)
})

test('an unchanged answer is a 304 with its headers and without a body', async () => {
  const etag = (await ask(HOLDERS)).headers.get('etag') ?? ''
  const again = (given: string, query = HOLDERS, method = 'GET') =>
    ask(query, { method, headers: { 'If-None-Match': given } })
  const { status, headers, body } = await again(etag)
  expect([status, body, headers.get('etag'), headers.get('x-block-height')]).toEqual([304, null, etag, '4851'])
  expect(headers.has('content-length')).toBe(false)
  const others = [await again('"x"'), await again(etag, `${HOLDERS}&page=2`), await again(etag, HOLDERS, 'HEAD')]
  expect(others.map(({ status }) => status)).toEqual([200, 200, 304])
})

test('numbers=string writes amounts as text and counts as numbers', async () => {
  const query = 'module=producer&action=get-producer-voter&producer=producer000'
  const numbers = await (await ask(query)).text()
  const texts = await (await ask(`${query}&numbers=string`)).text()
  expect(numbers).toContain('"votes":2000000000}')
  expect(texts).toBe(numbers.replace('"votes":2000000000', '"votes":"2000000000"'))
})

test('the log contains module, action and outcome, and no parameter', async () => {
  await ask('module=account&action=get-account-tx&account=busyhub&size=7')
  const line = service.lines.at(-1)
  expect(line).toEqual({
    level: 'info',
    message: 'Answered request.',
    fields: {
      id: expect.any(String),
      route: 'api',
      key: expect.stringMatching(/^[0-9a-f]{10}$/),
      module: 'account',
      action: 'get-account-tx',
      kind: 'ok',
      status: 200,
      ms: expect.any(Number),
      bytes: expect.any(Number),
    },
  })
  expect(JSON.stringify(line)).not.toContain('busyhub')
})

test('the line of a refused request says what was wrong with it, without keys', async () => {
  const lineOf = async (path: string, init?: RequestInit) => {
    await service.ask(path, init)
    return service.lines.at(-1)?.fields ?? {}
  }
  const key = service.key
  const faults: readonly (readonly [path: string, kind: string, reason: string])[] = [
    ['/api/?action=get-overview&module=bass', 'bad_request', "'bass'"],
    ['/api/?module=base&action=get-overview&size=0x', 'bad_request', "'size'"],
    [`/api/?module=base&action=get-overview&account=${key}`, 'bad_request', "'account'"],
    ['/api/?module=base&action=get-overview&apikey=wrong', 'bad_request', "'apikey'"],
    ['/openapi.json?x=1', 'bad_request', "'x'"],
  ]
  for (const [path, kind, reason] of faults) {
    const line = await lineOf(path.startsWith('/api') ? `${path}&apikey=${key}` : path)
    expect([path, line['kind'], line['reason']]).toEqual([path, kind, expect.stringContaining(reason)])
    expect(JSON.stringify(line)).not.toContain(key)
  }
  expect(await lineOf('/api/?module=base&action=get-overview&apikey=il_x')).toMatchObject({
    kind: 'unauthorized',
    reason: 'This API key is unknown.',
  })
  expect(await lineOf('/rpc/getNodeInfo', { method: 'POST' })).toMatchObject({ kind: 'method_not_allowed' })
  // What callers look for and do not find is not told.
  const absent = await lineOf(`/api/?module=account&action=get-account-balance&account=nosuch&apikey=${key}`)
  expect([absent['kind'], absent['reason']]).toEqual(['not_found', undefined])
})

test('defaults apply when a request has no option, and the request overrides them', async () => {
  const here = serviceOn(await loadedStore(), { defaults: { format: 'bare', compat: 'iostabc' } })
  const get = async (query: string) => (await here.ask(`/api/?apikey=${here.key}&${query}`)).text()
  const unknown = 'module=token&action=get-token-detail&token=nosuch'
  expect(await get(unknown)).toBe('{}')
  expect(await get(`${unknown}&format=envelope`)).toBe('{"code":0,"message":"OK","data":{}}')
  expect(await get(`${unknown}&compat=none`)).toMatch(
    /^\{"code":4040,"message":"Token 'nosuch' does not exist at block 4851\.","request_id":"[0-9a-f]{16}"\}$/,
  )
})

test('OPTIONS answers a browser’s preflight request', async () => {
  const { ask } = serviceOn(store)
  const response = await ask('/api/', { method: 'OPTIONS' })
  expect(response.status).toBe(204)
  expect(response.headers.toJSON()).toMatchObject({
    allow: 'GET, HEAD, OPTIONS',
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    'access-control-allow-headers': 'X-API-Key, If-None-Match, Last-Event-ID, Accept-Language, Content-Type',
    'access-control-max-age': '86400',
  })
  expect(response.headers.has('access-control-allow-credentials')).toBe(false)
})

test('HEAD is GET without its body', async () => {
  const { ask } = serviceOn(store)
  for (const path of ['/health', '/docs/en', '/openapi.json', '/nothing/x', '/rpc/getNodeInfo', '/api']) {
    const get = await ask(path)
    const head = await ask(path, { method: 'HEAD' })
    expect(await head.text()).toBe('')
    const { 'x-request-id': _one, ...headers } = head.headers.toJSON()
    const { 'x-request-id': _two, ...expected } = get.headers.toJSON()
    expect({ status: head.status, headers }).toEqual({ status: get.status, headers: expected })
    expect(headers['content-length']).toBe(String((await get.bytes()).length))
  }
})

const now = Date.UTC(2026, 10, 21)

test('messages, logs and headers never contain a key', async () => {
  const { ask, key, lines } = serviceOn(store)
  for (const path of ['/api/?', '/rpc/x?', '/rpc/getNodeInfo?x=1&', '/docs/en?', '/nothing?'])
    for (const given of [key, 'secret-and-wrong', `${key}x`]) {
      const response = await ask(`${path}apikey=${given}&module=${given}`, { headers: { Referer: given } })
      expect(JSON.stringify(response.headers.toJSON())).not.toContain(given)
      expect(await response.text()).not.toContain(given)
    }
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${key}|secret-and-wrong`))
})

test('a key in another parameter or a path, also cut or escaped, is not repeated either', async () => {
  const { ask, key } = serviceOn(store)
  const other = createKey('other', { perSecond: 9, perDay: 9 }, { now }).key
  const given = [other, `${'x'.repeat(40)}${other}`, other.replace('i', '%69'), `a${other.toUpperCase()}`]
  for (const text of given)
    for (const path of [
      `/api/?module=${text}`,
      `/api/?module=account&action=get-account-tx&account=${text}`,
      `/api/?module=account&action=get-account-tx&account=alice00&${text}=1`,
      `/api/?module=account&action=get-account-tx&account=alice00&page=${text}%`,
      `/api/?module=account&action=get-account-tx&account=alice00&%zz${text}=1`,
      `/rpc/${text}?`,
      `/rpc/getAccount/${text}/true?`,
      `/rpc/getAccount/alice00/${text}?`,
    ]) {
      const response = await ask(`${path}&apikey=${key}`)
      const body = await response.text()
      expect([path, response.status]).not.toEqual([path, 200])
      expect(body.toLowerCase()).not.toContain(other.slice(3, 11).toLowerCase())
    }
})

const failing = (read: Store['read']): Store => ({ ...store, read })

test('a store without blocks is 503 with Retry-After', async () => {
  const { ask, key } = serviceOn(store)
  const response = await ask(`/api/?module=base&action=get-overview&apikey=${key}`)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
})

test('a defect is answered with the request id only, and logged in full', async () => {
  const { ask, key, lines } = serviceOn(failing(() => Promise.reject(new TypeError('inner detail'))))
  const response = await ask(`/api/?module=base&action=get-overview&apikey=${key}`)
  const id = response.headers.get('x-request-id') ?? ''
  expect(id).toMatch(/^[0-9a-f]{16}$/)
  expect([response.status, await response.text()]).toEqual([
    500,
    `{"code":5000,"message":"Internal error.","data":{},"request_id":"${id}"}`,
  ])
  expect(lines.map(({ level, message, fields: { id, error } }) => [level, message, id, error])).toEqual([
    ['error', 'A request failed because of a bug.', id, 'TypeError: inner detail'],
    ['error', 'Answered request.', id, undefined],
  ])
  expect(JSON.stringify(lines[0])).toContain('app.test.ts')
})

test('a hanging store is 504, and the request keeps its place until it ends', async () => {
  const hang = Promise.withResolvers<never>()
  const { ask, key } = serviceOn(
    failing(() => hang.promise),
    { deadlineMs: 40, maxInFlight: 1, clock: systemClock },
  )
  const path = `/api/?module=base&action=get-overview&apikey=${key}`
  expect(await bodyOf(await ask(path))).toEqual({
    status: 504,
    code: 5040,
    message: 'The request took longer than 40 ms.',
    data: {},
  })
  const busy = await ask(path)
  expect(busy.headers.get('retry-after')).toBe('1')
  expect(await bodyOf(busy)).toMatchObject({
    status: 503,
    code: 5030,
    message: 'The service is busy: this request waited for 20 ms.',
  })
  hang.reject(new Error('over'))
  await hang.promise.catch(() => undefined)
  expect((await ask(path)).status).toBe(500)
})

test('the requests of a key with too many waiting ones are refused at once, and those of other keys are not', async () => {
  const hang = Promise.withResolvers<never>()
  const other = createKey('other', { perSecond: 1_000, perDay: 1_000 }, { now: Date.now() })
  const begun = Promise.withResolvers<void>()
  const { ask, key, lines } = serviceOn(
    failing(() => {
      begun.resolve()
      return hang.promise
    }),
    { maxInFlight: 1, keys: [other.stored] },
  )
  const path = `/api/?module=base&action=get-overview&apikey=${key}`
  const waiting = [ask(path)]
  await begun.promise
  waiting.push(ask(path), ask(path))
  // By now those two wait in the queue.
  await ask('/api/?apikey=unknown')
  const before = lines.length
  const refused = await ask(`${path}&lang=zh`)
  expect(await bodyOf(refused)).toMatchObject({
    status: 503,
    code: 5030,
    message: '服务繁忙：排队等待的请求过多。',
  })
  // HEAD does not take the fast path of the refusal.
  const long = await ask(`${path}&lang=zh`, { method: 'HEAD' })
  const { 'x-request-id': _, ...headers } = refused.headers.toJSON()
  expect(long.headers.toJSON()).toMatchObject(headers)
  expect(lines.slice(before).map(({ fields: { route, kind, status, bytes } }) => [route, kind, status, bytes])).toEqual(
    Array.from({ length: 2 }, () => ['api', 'unavailable', 503, Number(headers['content-length'])]),
  )
  const byHeader = await ask('/api/?module=base', { headers: { 'x-api-key': key } })
  const unknown = await ask('/api/?module=base&apikey=unknown')
  const letIn = await ask(`/api/?module=base&apikey=${other.key}`)
  expect([byHeader.status, unknown.status, letIn.status]).toEqual([503, 401, 400])
  hang.reject(new Error('over'))
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([500, 500, 500])
})

test('/ and /docs lead to the reference in the reader’s language', async () => {
  const { ask } = serviceOn(store)
  for (const path of ['/', '/docs', '/docs/']) {
    const response = await ask(path, { headers: { 'Accept-Language': 'zh' } })
    // A relative location is right behind any base path.
    const { pathname } = new URL(response.headers.get('location') ?? '', `http://host${path}`)
    expect([response.status, pathname]).toEqual([302, '/docs/zh'])
    expect(response.headers.get('location')).not.toStartWith('/')
  }
})

test('llms.txt names every action, robots.txt disallows calls, and the icons exist', async () => {
  const { ask } = serviceOn(store)
  const llms = await ask('/llms.txt')
  expect(llms.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  const text = await llms.text()
  for (const action of actions)
    expect(text).toContain(`](docs/en#${formatActionName(action)}): GET /api/${action.module}/${action.action}. `)
  expect(text).not.toMatch(/https?:\/\/|\]\(\//)
  expect(await (await ask('/robots.txt')).text()).toBe('User-agent: *\nDisallow: /api/\nDisallow: /rpc/\n')
  for (const path of ['/favicon.svg', '/favicon.ico'])
    expect((await ask(path)).headers.get('content-type')).toBe('image/svg+xml')
  expect((await ask('/apple-touch-icon.png')).headers.get('content-type')).toBe('image/png')
})
