import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { systemClock } from '#time/clock.ts'

const { store, destroy } = await temporarySqlite()
beforeAll(() => store.create())
afterAll(destroy)

async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const { request_id, ...body } = (await response.json()) as Record<string, unknown>
  return { status: response.status, ...body, request_id: typeof request_id }
}
const ID = 'string'

describe('paths and methods', () => {
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

  test('a host of any length, or none, does not change the path', async () => {
    const { app } = serviceOn(store)
    for (const url of ['http://a/health', 'http://abc/health', 'http://abcd/health', 'http://a/health?x=1#y'])
      expect((await app.handle(new Request(url))).status).toBe(200)
    expect((await app.handle(new Request('http://a//api/'))).status).toBe(404)
  })
})

describe('keys', () => {
  const now = Date.UTC(2026, 10, 21)
  const revoked = createKey('revoked', { perSecond: 9, perDay: 9 }, { now })
  const expired = createKey('expired', { perSecond: 9, perDay: 9 }, { now: now - 10, expires: now })
  const service = () =>
    serviceOn(store, { now: () => now, keys: [{ ...revoked.stored, revoked: now }, expired.stored] })

  test('messages, logs and headers never contain a key', async () => {
    const { ask, key, lines } = service()
    for (const path of ['/api/?', '/rpc/x?', '/rpc/getNodeInfo?x=1&', '/docs/en?', '/nothing?'])
      for (const given of [key, 'secret-and-wrong', `${key}x`]) {
        const response = await ask(`${path}apikey=${given}&module=${given}`, { headers: { Referer: given } })
        expect(JSON.stringify(response.headers.toJSON())).not.toContain(given)
        expect(await response.text()).not.toContain(given)
      }
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${key}|secret-and-wrong`))
  })

  test('a key in another parameter or a path, also cut or escaped, is not repeated either', async () => {
    const { ask, key } = service()
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

  test('a request beyond the plan is 429 with a retry time', async () => {
    const { ask, key } = serviceOn(store, { now: () => now, plan: { perSecond: 2, perDay: 50 } })
    const path = `/rpc/sendTx?apikey=${key}`
    const rates = ({ headers }: Response) =>
      ['limit', 'remaining', 'reset'].map(name => headers.get(`ratelimit-${name}`)).join(' ')
    expect(rates(await ask(path))).toBe('2 1 1')
    expect(rates(await ask(path))).toBe('2 0 1')
    const refused = await ask(path)
    expect(rates(refused)).toBe('2 0 1')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await bodyOf(refused)).toEqual({
      status: 429,
      code: 4290,
      message: 'This API key is limited to 2 requests per second.',
      data: {},
      request_id: ID,
    })
  })
})

describe('trouble', () => {
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
      request_id: ID,
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
    expect(
      lines.slice(before).map(({ fields: { route, kind, status, bytes } }) => [route, kind, status, bytes]),
    ).toEqual(Array.from({ length: 2 }, () => ['api', 'unavailable', 503, Number(headers['content-length'])]))
    const byHeader = await ask('/api/?module=base', { headers: { 'x-api-key': key } })
    const unknown = await ask('/api/?module=base&apikey=unknown')
    const letIn = await ask(`/api/?module=base&apikey=${other.key}`)
    expect([byHeader.status, unknown.status, letIn.status]).toEqual([503, 401, 400])
    hang.reject(new Error('over'))
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([500, 500, 500])
  })

  test('a client that disconnects ends its request', async () => {
    const client = new AbortController()
    let signal: AbortSignal | undefined
    const { ask, key, lines } = serviceOn(
      failing((_work, options) => {
        signal = options?.signal
        client.abort()
        return new Promise(() => {})
      }),
    )
    await ask(`/api/?module=base&action=get-overview&apikey=${key}`, { signal: client.signal })
    expect(signal?.aborted).toBe(true)
    expect(lines.map(({ fields: { kind } }) => kind)).toEqual(['gone'])
  })
})

describe('language', () => {
  test('messages follow lang, then Accept-Language', async () => {
    const { ask } = serviceOn(store)
    const message = async (path: string, language: string) =>
      ((await (await ask(path, { headers: { 'Accept-Language': language } })).json()) as { message: string }).message
    const en = "An API key is required; give it in the parameter 'apikey'."
    const zh = "缺少 API key；请通过参数 'apikey' 提供。"
    expect(await message('/api/', 'zh-CN,zh;q=0.9,en;q=0.8')).toBe(zh)
    expect(await message('/api/?lang=en', 'zh')).toBe(en)
    expect(await message('/api/?lang=zh', 'en')).toBe(zh)
    expect(await message('/api/?lang=xx', 'fr')).toBe(en)
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
    expect((await ask('/')).headers.get('location')).toBe('docs/en')
  })
})

describe('for robots', () => {
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
})

describe('form', () => {
  test('format=bare applies to failures too', async () => {
    const { ask } = serviceOn(store)
    expect(await bodyOf(await ask('/api/?format=bare'))).toEqual({
      status: 401,
      code: 4010,
      message: "An API key is required; give it in the parameter 'apikey'.",
      request_id: ID,
    })
  })

  test('the answer is gzip if accepted and useful, with another tag and the same 304', async () => {
    const { ask } = serviceOn(store)
    const plain = await ask('/docs/zh')
    const packed = await ask('/docs/zh', { headers: { 'Accept-Encoding': 'gzip' } })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    const bytes = await packed.arrayBuffer()
    expect(packed.headers.get('content-length')).toBe(String(bytes.byteLength))
    expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(await plain.text())
    const tags = [plain, packed].map(({ headers }) => headers.get('etag') ?? '')
    expect(new Set(tags).size).toBe(2)
    for (const tag of tags) {
      const again = await ask('/docs/zh', { headers: { 'If-None-Match': tag } })
      expect([again.status, await again.text(), again.headers.get('vary')]).toEqual([304, '', 'Accept-Encoding'])
    }
    expect((await ask('/openapi.json')).headers.get('content-type')).toBe('application/json; charset=utf-8')
  })
})
