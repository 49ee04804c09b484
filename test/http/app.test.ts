import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { systemClock } from '#time/clock.ts'
import { limitExample, lists } from './list-calls.ts'

const service = serviceOn(await loadedStore())
const get = (query: string, headers = {}, init: RequestInit = {}) => service.get(`/api/?${query}`, headers, init)
const HOLDERS = 'module=token&action=get-token-holder&token=iost&size=2'
const OVERVIEW = '/api/?module=base&action=get-overview'

/** A store without blocks. */
const { store, destroy } = await temporarySqlite()
beforeAll(() => store.create())
afterAll(destroy)

async function readBody(response: Response) {
  const { request_id: _, ...body } = JSON.parse(await response.text())
  return { status: response.status, ...body }
}

test('every example is answered, and equally at every address of the API', async () => {
  for (const { module, action, example } of actions) {
    const query = `module=${module}&action=${action}&${new URLSearchParams(example)}`
    const response = await get(query)
    const text = await response.text()
    expect([action, response.status]).toEqual([action, 200])
    expect(text).toStartWith('{"code":0,"message":"OK","data":{')
    for (const path of [
      `/api?${query}`,
      `/api/?${query.replace(action, action.toUpperCase())}&_=1&t=2&timestamp=3`,
      ...['', '/'].map(end => `/api/${module}/${action}${end}?${new URLSearchParams(example)}`),
      `/api/${module}/${action}?${new URLSearchParams(example)}`.replace(`${module}/${action}`, name =>
        name.toUpperCase(),
      ),
    ]) {
      const same = await service.get(path)
      expect([path, same.headers.get('etag'), await same.text()]).toEqual([path, response.headers.get('etag'), text])
    }
    const bare = await (await get(`${query}&format=bare`)).text()
    expect(`{"code":0,"message":"OK","data":${bare}}`).toBe(text)
  }
})

test('headers give the height of the answer and the rules for caches', async () => {
  const { headers } = await get(HOLDERS)
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
  const etag = (await get(HOLDERS)).headers.get('etag') ?? ''
  const again = (given: string, query = HOLDERS, method = 'GET') => get(query, { 'If-None-Match': given }, { method })
  const { status, headers, body } = await again(etag)
  expect([status, body, headers.get('etag'), headers.get('x-block-height')]).toEqual([304, null, etag, '4851'])
  expect(headers.has('content-length')).toBe(false)
  const others = [await again('"x"'), await again(etag, `${HOLDERS}&page=2`), await again(etag, HOLDERS, 'HEAD')]
  expect(others.map(({ status }) => status)).toEqual([200, 200, 304])
})

test('the log contains module, action and outcome, and no parameter', async () => {
  await get('module=account&action=get-account-tx&account=busyhub&size=7')
  expect(service.lines.at(-1)).toEqual({
    level: 'info',
    message: 'Answered request.',
    fields: {
      ...{ id: expect.any(String), ms: expect.any(Number), bytes: expect.any(Number) },
      ...{ route: 'api', key: expect.stringMatching(/^[0-9a-f]{10}$/), kind: 'ok', status: 200 },
      ...{ module: 'account', action: 'get-account-tx' },
    },
  })
})

test('the line of a refused request says what was wrong with it, without keys', async () => {
  const { key } = service
  for (const [path, kind, reason] of [
    [`/api/?action=get-overview&module=bass&apikey=${key}`, 'bad_request', "'bass'"],
    [`${OVERVIEW}&size=0x&apikey=${key}`, 'bad_request', "'size'"],
    [`${OVERVIEW}&account=${key}&apikey=${key}`, 'bad_request', "'account'"],
    [`${OVERVIEW}&apikey=wrong&apikey=${key}`, 'bad_request', "'apikey'"],
    ['/openapi.json?x=1', 'bad_request', "'x'"],
    [`${OVERVIEW}&apikey=il_x`, 'unauthorized', 'This API key is unknown.'],
    // What callers look for and do not find is not told.
    [`/api/?module=account&action=get-account-balance&account=nosuch&apikey=${key}`, 'not_found', undefined],
  ]) {
    await service.ask(path ?? '')
    const line = service.lines.at(-1)?.fields ?? {}
    expect([path, line['kind'], line['reason']]).toEqual([path, kind, reason && expect.stringContaining(reason)])
    expect(JSON.stringify(line)).not.toContain(key)
  }
})

test('defaults apply when a request has no option, and the request overrides them', async () => {
  const here = serviceOn(await loadedStore(), { defaults: { format: 'bare', compat: 'iostabc' } })
  const read = async (more = '') => (await here.get(`/api/token/get-token-detail?token=nosuch${more}`)).text()
  expect(await read()).toBe('{}')
  expect(await read('&format=envelope')).toBe('{"code":0,"message":"OK","data":{}}')
  expect(await read('&compat=none')).toMatch(
    /^\{"code":4040,"message":"Token 'nosuch' does not exist at block 4851\.","request_id":"[0-9a-f]{16}"\}$/,
  )
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
  const { get } = serviceOn(store)
  const other = createKey('other', { perSecond: 9, perDay: 9 }, { now: Date.now() }).key
  const given = [other, `${'x'.repeat(40)}${other}`, other.replace('i', '%69'), `a${other.toUpperCase()}`]
  for (const text of given)
    for (const path of [
      `/api/?module=${text}`,
      `/api/?module=account&action=get-account-tx&account=${text}`,
      `/api/?module=account&action=get-account-tx&account=alice00&${text}=1`,
      `/api/?module=account&action=get-account-tx&account=alice00&page=${text}%`,
      `/api/?module=account&action=get-account-tx&account=alice00&%zz${text}=1`,
      `/rpc/${text}`,
      `/rpc/getAccount/${text}/true`,
      `/rpc/getAccount/alice00/${text}`,
    ]) {
      const response = await get(path)
      const body = await response.text()
      expect([path, response.status]).not.toEqual([path, 200])
      expect(body.toLowerCase()).not.toContain(other.slice(3, 11).toLowerCase())
    }
})

const failing = (read: Store['read']): Store => ({ ...store, read })

test('a defect is answered with the request id only, and logged in full', async () => {
  const { get, lines } = serviceOn(failing(() => Promise.reject(new TypeError('inner detail'))))
  const response = await get(OVERVIEW)
  const id = response.headers.get('x-request-id') ?? ''
  expect(id).toMatch(/^[0-9a-f]{16}$/)
  const text = `{"code":5000,"message":"Internal error.","data":{},"request_id":"${id}"}`
  expect([response.status, await response.text()]).toEqual([500, text])
  expect(lines.map(({ level, message, fields: { id, error } }) => [level, message, id, error])).toEqual([
    ['error', 'A request failed because of a bug.', id, 'TypeError: inner detail'],
    ['error', 'Answered request.', id, undefined],
  ])
  expect(JSON.stringify(lines[0])).toContain('app.test.ts')
})

test('a hanging store is 504, and the request keeps its place until it ends', async () => {
  const hang = Promise.withResolvers<never>()
  const { get } = serviceOn(
    failing(() => hang.promise),
    { deadlineMs: 40, maxInFlight: 1, clock: systemClock },
  )
  const late = { status: 504, code: 5040, message: 'The request took longer than 40 ms.', data: {} }
  expect(await readBody(await get(OVERVIEW))).toEqual(late)
  const busy = await get(OVERVIEW)
  expect(busy.headers.get('retry-after')).toBe('1')
  const waited = { status: 503, code: 5030, message: 'The service is busy: this request waited for 20 ms.' }
  expect(await readBody(busy)).toMatchObject(waited)
  hang.reject(new Error('over'))
  await hang.promise.catch(() => undefined)
  expect((await get(OVERVIEW)).status).toBe(500)
})

test('the requests of a key with too many waiting ones are refused at once, and those of other keys are not', async () => {
  const hang = Promise.withResolvers<never>()
  const other = createKey('other', { perSecond: 1_000, perDay: 1_000 }, { now: Date.now() })
  const begun = Promise.withResolvers<void>()
  const read = () => {
    begun.resolve()
    return hang.promise
  }
  const { ask, key, lines } = serviceOn(failing(read), { maxInFlight: 1, keys: [other.stored] })
  const path = `${OVERVIEW}&apikey=${key}`
  const waiting = [ask(path)]
  await begun.promise
  waiting.push(ask(path), ask(path))
  // By now those two wait in the queue.
  await ask('/api/?apikey=unknown')
  const before = lines.length
  const refused = await ask(`${path}&lang=zh`)
  expect(await readBody(refused)).toMatchObject({ status: 503, message: '服务繁忙：排队等待的请求过多。' })
  // HEAD does not take the fast path of the refusal.
  const long = await ask(`${path}&lang=zh`, { method: 'HEAD' })
  const { 'x-request-id': _, ...headers } = refused.headers.toJSON()
  expect(long.headers.toJSON()).toMatchObject(headers)
  const told = lines.slice(before).map(({ fields: { route, kind, status, bytes } }) => [route, kind, status, bytes])
  expect(told).toEqual(Array(2).fill(['api', 'unavailable', 503, Number(headers['content-length'])]))
  const byHeader = await ask('/api/?module=base', { headers: { 'x-api-key': key } })
  const unknown = await ask('/api/?module=base&apikey=unknown')
  const letIn = await ask(`/api/?module=base&apikey=${other.key}`)
  expect([byHeader.status, unknown.status, letIn.status]).toEqual([503, 401, 400])
  hang.reject(new Error('over'))
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([500, 500, 500])
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

/** The public URL of the service behind a proxy that adds a path. */
const PREFIX = 'https://example.org/chain/v1'

/** The links of an answer as paths of the service, resolved against the URL that the caller knows. */
function linksOf({ headers }: Response, path: string): ReadonlyMap<string, string> {
  const links = headers.get('link')?.split(', ') ?? []
  return new Map(
    links.map(link => {
      const [, reference = '', relation = ''] = /^<([^>]+)>; rel="(\w+)"$/.exec(link) ?? []
      const { href } = new URL(reference, `${PREFIX}${path}`)
      expect(href).toStartWith(PREFIX)
      return [relation, href.slice(PREFIX.length)] as const
    }),
  )
}

/** The rows of an address, and its links. */
async function readRows(path: string, list: string) {
  const response = await service.get(path)
  expect(response.status).toBe(200)
  const { [list]: rows = [], total } = JSON.parse(await response.text()).data
  return { rows, total: Number(total), links: linksOf(response, path) }
}

const PAGED = lists.filter(({ params }) => 'page' in params.properties)

test.each(PAGED.map((action, at) => [`${action.module} ${formatActionName(action)}`, action, at] as const))(
  'Link of %s: from every address the links lead on, and through the whole list and back',
  async (_name, each, place) => {
    const { module, action, list = '' } = each
    const query = new URLSearchParams(limitExample(each))
    const whole = await readRows(`/api/${module}/${action}?${query}&size=90`, list)
    const { total } = whole
    const size = Math.min(500, Math.max(1, Math.ceil(total / 7)))
    const paths = [
      `/api/?module=${module}&action=${action}&${query}&size=${size}`,
      `/api?size=${size}&module=${module}&action=${action}&${query}&page=0&lang=zh`,
      `/api/${module}/${action}?${query}&size=${size}&numbers=number`,
      `/api/${module}/${action}/?size=${size}&${query}`,
    ]
    const rows: unknown[] = []
    let pages = 0
    for (let at = paths[place % paths.length]; at !== undefined; pages += 1) {
      const { rows: own, links } = await readRows(at, list)
      rows.push(...own)
      expect(links.has('prev')).toBe(pages > 0)
      at = links.get('next')
    }
    expect([rows.length, pages]).toEqual([total, Math.max(1, Math.ceil(total / size))])
    expect(rows.slice(0, 90)).toEqual(whole.rows)
    // From every address, the last link leads to the last rows, and further to the page before them.
    for (const path of paths) {
      const links = linksOf(await service.get(path), path)
      const end = await readRows(links.get('last') ?? '', list)
      expect(end.rows).toEqual(rows.slice((pages - 1) * size))
      if (pages > 1) expect(links.get('next')).toContain('page=2')
      expect(end.links.has('prev')).toBe(pages > 1)
    }
  },
  600_000,
)

test('Link: the header is the same on HEAD and 304, in every form of the answer', async () => {
  for (const form of ['', '&format=bare', '&compat=iostabc', '&numbers=string']) {
    const path = `/api/token/get-token-holder?token=iost&page=2&size=5${form}`
    const { headers } = await service.get(path)
    const link = headers.get('link')
    expect(link).toContain(`<?token=iost&page=3&size=5${form}>; rel="next"`)
    const head = await service.get(path, {}, { method: 'HEAD' })
    const known = await service.get(path, { 'if-none-match': headers.get('etag') ?? '' })
    expect([head, known].map(each => [each.status, each.headers.get('link')])).toEqual([
      [200, link],
      [304, link],
    ])
  }
})

test('Link: the header never contains the key, and is absent on answers without pages', async () => {
  const { key } = service
  const path = `/api/?apikey=${key}&module=base&action=get-wealth-list&_=${key}&t=5`
  const link = (await service.get(path)).headers.get('link') ?? ''
  expect(link).not.toContain(key)
  expect(link).toStartWith('<?module=base&action=get-wealth-list&t=5&page=1>; rel="first"')
  for (const other of [
    '/api/base/get-overview',
    '/api/block/get-block-tx?number=804',
    '/api/producer/get-producer-voter?producer=producer000',
    '/api/account/get-account-detail?account=nosuchacc',
    '/api/base/get-wealth-list?page=x',
  ])
    expect((await service.get(other)).headers.has('link')).toBe(false)
  const part = await service.get('/api/producer/get-producer-voter?producer=producer000&page=1')
  expect(part.headers.get('link')).toContain('rel="last"')
})
