import { expect, test } from 'bun:test'
import { actions } from '#actions/registry.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

type Referring = { readonly $ref?: string }
type Response = Referring & { readonly headers?: Readonly<Record<string, Referring>> }
type Header = { readonly required: boolean; readonly schema: { readonly type: string } }
type Document = {
  readonly paths: Readonly<Record<string, { readonly get: { readonly responses: Readonly<Record<string, Response>> } }>>
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, Header>>
  }
}

const service = serviceOn(await loadedStore())
const document = (await (await service.ask('/openapi.json')).json()) as Document

const lastOf = ($ref: string | undefined): string => $ref?.split('/').at(-1) ?? ''

/** Headers in the document for a status of an operation, by name in lower case. */
function documented(path: string, status: number): ReadonlyMap<string, Header> {
  const given = document.paths[path]?.get.responses[status]
  const response = given?.$ref === undefined ? given : document.components.responses[lastOf(given.$ref)]
  return new Map(
    Object.entries(response?.headers ?? {}).flatMap(([name, { $ref }]) => {
      const header = document.components.headers[lastOf($ref)]
      return header === undefined ? [] : [[name.toLowerCase(), header] as const]
    }),
  )
}

/** Headers that every HTTP answer has, or that only browsers and caches read. */
const GENERIC =
  /^(?:content-(?:type|length|encoding)|vary|date|referrer-policy|x-content-type-options|access-control-.*)$/

/** Differences between the headers of an answer and the document. */
function faultsOf(path: string, { status, headers }: globalThis.Response): readonly string[] {
  const known = documented(path, status)
  return [
    ...[...headers.keys()].filter(name => !known.has(name) && !GENERIC.test(name)),
    ...[...known].flatMap(([name, { required, schema }]) => {
      const value = headers.get(name)
      if (value === null) return required ? [`${name} is missing`] : []
      return schema.type === 'integer' && !/^[0-9]+$/.test(value) ? [`${name}: ${value}`] : []
    }),
  ]
}

test.each(actions.map(action => [action.action, action] as const))(
  'openapi: the headers of %s match its document for every status',
  async (_name, action) => {
    const path = formatRoute(action)
    const query = `${path}?${new URLSearchParams(action.example)}`
    const headers = { 'x-api-key': service.key }
    const whole = await service.ask(query, { headers })
    const tag = whole.headers.get('etag') ?? ''
    const answers = [
      whole,
      await service.ask(query, { headers: { ...headers, 'if-none-match': tag } }),
      await service.ask(`${query}&nonsense=1`, { headers }),
      await service.ask(query),
      await service.ask(`${query}&lang=${'z'.repeat(20_000)}`, { headers }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 400, 401, 414])
    for (const answer of answers) expect([answer.status, faultsOf(path, answer)]).toEqual([answer.status, []])
  },
)

test('openapi: headers of a rate-limited key, of pages about the service and of the gateway match the document', async () => {
  const slow = serviceOn(await loadedStore(), { plan: { perSecond: 1, perDay: 1 } })
  const [, second] = [
    await slow.ask('/api/base/get-overview', { headers: { 'x-api-key': slow.key } }),
    await slow.ask('/api/base/get-overview', { headers: { 'x-api-key': slow.key } }),
  ]
  expect([second.status, faultsOf('/api/base/get-overview', second)]).toEqual([429, []])
  for (const path of ['/health', '/ready']) {
    const answer = await service.ask(path)
    expect([answer.status, faultsOf(path, answer)]).toEqual([200, []])
  }
  const status = await service.ask('/status', { headers: { accept: 'application/json' } })
  expect([status.status, faultsOf('/status', status)]).toEqual([200, []])
  const counting = serviceOn(await loadedStore(), {
    metrics: { type: 'text/plain', text: async () => 'up 1\n' },
  })
  const counted = await counting.ask('/metrics')
  const tag = counted.headers.get('etag') ?? ''
  const again = await counting.ask('/metrics', { headers: { 'if-none-match': tag } })
  const elsewhere = await service.ask('/metrics')
  const answers = [counted, again, elsewhere]
  expect(answers.map(each => [each.status, faultsOf('/metrics', each)])).toEqual([
    [200, []],
    [304, []],
    [404, []],
  ])
  const away = await service.ask('/rpc/getNodeInfo', { headers: { 'x-api-key': service.key } })
  expect([away.status, faultsOf('/rpc/getNodeInfo', away)]).toEqual([503, []])
})
