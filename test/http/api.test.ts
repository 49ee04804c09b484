import { describe, expect, test } from 'bun:test'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const service = serviceOn(await loadedStore())

/** The example call of an action. */
const exampleUrl = ({ module, action, example }: ApiAction): string =>
  `/api/?${new URLSearchParams({ apikey: service.key, module, action, ...example })}`

const ask = (query: string, init?: RequestInit) => service.ask(`/api/?apikey=${service.key}&${query}`, init)
const HOLDERS = 'module=token&action=get-token-holder&token=iost&size=2'

describe('success', () => {
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
    for (const given of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await ask(HOLDERS, { headers: { 'If-None-Match': given } })
      expect([
        again.status,
        await again.text(),
        again.headers.get('etag'),
        again.headers.get('x-block-height'),
      ]).toEqual([304, '', etag, '4851'])
      expect(again.headers.has('content-length')).toBe(false)
    }
    expect((await ask(HOLDERS, { headers: { 'If-None-Match': '"x"' } })).status).toBe(200)
    expect((await ask(`${HOLDERS}&page=2`, { headers: { 'If-None-Match': etag } })).status).toBe(200)
    expect((await ask(HOLDERS, { method: 'HEAD', headers: { 'If-None-Match': etag } })).status).toBe(304)
  })

  test('a gzip answer decompresses to the same bytes', async () => {
    const query = 'module=account&action=get-account-tx&account=busyhub&size=500'
    const packed = await ask(query, { headers: { 'Accept-Encoding': 'gzip, br' } })
    const bytes = await packed.arrayBuffer()
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(await (await ask(query)).text())
    const small = await ask('module=account&action=get-account-balance&account=busyhub', {
      headers: { 'Accept-Encoding': 'gzip' },
    })
    expect(small.headers.get('content-encoding')).toBeNull()
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
})

describe('defaults of the server', () => {
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
})
