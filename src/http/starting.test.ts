import { expect, test } from 'bun:test'
import { systemClock } from '#time/clock.ts'
import { startingAnswers } from './starting.ts'

const answer = startingAnswers({
  version: '1.2.3',
  log: () => undefined,
  clock: systemClock,
  deadlineMs: 10_000,
  basePath: '/iost',
  defaults: { format: 'envelope', compat: 'none' },
})
const ask = async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  await answer(new Request(`http://localhost/iost${path}`, { method, headers }))
const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('starting: a query gets the usual envelope in its language and form, and a Retry-After header', async () => {
  for (const [path, message] of [
    ['/api/?module=base&action=get-overview', 'The service is starting; try again.'],
    ['/rpc/getNodeInfo', 'The service is starting; try again.'],
    ['/api/base/get-overview?lang=zh', '服务正在启动；请重试。'],
  ] as const)
    for (const headers of [{}, BROWSER]) {
      const response = await ask(path, headers)
      expect(await response.json()).toEqual({
        code: 5030,
        message,
        data: {},
        request_id: response.headers.get('x-request-id'),
      })
      expect(response.status).toBe(503)
      expect(['retry-after', 'connection', 'cache-control'].map(name => response.headers.get(name))).toEqual([
        '1',
        'close',
        'no-store',
      ])
    }
  const bare = await ask('/api/?module=base&action=get-overview&format=bare')
  expect(Object.keys((await bare.json()) as object)).toEqual(['code', 'message', 'request_id'])
  const head = await ask('/api/', {}, 'HEAD')
  expect([head.status, await head.text(), head.headers.get('retry-after')]).toEqual([503, '', '1'])
  expect((await ask('/api/', {}, 'OPTIONS')).status).toBe(204)
  expect((await ask('/api/', {}, 'POST')).status).toBe(405)
})

test('starting: a request for events gets an empty stream, so that the client reconnects', async () => {
  for (const [path, headers] of [
    ['/api/?module=base&action=get-block-list&format=sse&head=1', {}],
    ['/live', { Accept: 'text/event-stream' }],
  ] as const) {
    const response = await ask(path, headers)
    const text = (await response.text()).replace(/[123]\d{3}/, '2000')
    expect([response.status, response.headers.get('content-type'), text]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'retry: 2000\n: The service is starting; try again.\n\n',
    ])
    expect(response.headers.get('connection')).toBe('close')
  }
})

test('starting: a browser gets a page that reloads itself; the process is alive and not ready', async () => {
  const page = await ask('/zh/account/admin', BROWSER)
  const html = await page.text()
  expect([page.status, page.headers.get('content-type'), page.headers.get('retry-after')]).toEqual([
    503,
    'text/html; charset=utf-8',
    '1',
  ])
  expect(html).toContain('<html lang="zh-CN">')
  expect(html).toContain('<meta http-equiv="refresh" content="1">')
  expect(html).toContain('服务正在启动；请重试。')
  expect((await ask('/health')).status).toBe(200)
  const ready = await ask('/ready')
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { ready: false, reason: 'The service is starting.', version: '1.2.3' },
  ])
})
