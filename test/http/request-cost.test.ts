import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { OPTION_VALUES } from '#actions/request/options.ts'
import { listParameters } from '#actions/request/query.ts'
import { pages } from '#explorer/pages.ts'
import { findClient, parseIpRange } from '#http/exchange.ts'
import { explorerOn, HTML } from '../explorer/served.ts'
import { cpuOf } from '../support/cost/cpu.ts'
import { COMMON_SHAPES, SHAPES, shapesOf } from '../support/cost/long-texts.ts'
import { ROOT } from '../support/root.ts'

/**
 * What one request may cost, whatever is in it: the longest texts of many shapes in every parameter, path and header
 * that the service reads. CPU time is measured, so a busy machine makes no difference.
 */

setDefaultTimeout(600_000)

/** Most milliseconds of CPU for one request, or those of twenty plain refusals. */
let most = 30
/** A query may have 8,192 bytes; those of a header, with all others, 16 KiB. */
const QUERY_LENGTH = 8_100
const HEADER_LENGTH = 15_000

const service = await explorerOn()
beforeAll(async () => {
  most = Math.max(most, 20 * (await cpuOf(() => read('/api/?module=nothing'))))
})

async function read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const { headers: own, body } = await service.get(path, headers)
  // A feed goes on for ever, and the rows of a file are counted as those of an export: only the head is read.
  if (own.get('content-type')?.startsWith('text/event-stream') || own.has('content-disposition')) await body?.cancel()
  else await new Response(body).arrayBuffer()
}

type Request = {
  readonly name: string
  readonly ask: (run: number) => Promise<void>
  /** The same with a short text. A page may cost as much more as any request may cost. */
  readonly short?: (run: number) => Promise<void>
}

/** Requires that no request costs too much. */
async function expectCheap(requests: readonly Request[]): Promise<void> {
  const dear: string[] = []
  for (const { name, ask, short } of requests) {
    const ms = await cpuOf(ask, most)
    if (ms > most + (ms > most && short !== undefined ? await cpuOf(short) : 0))
      dear.push(`${name}: ${Math.round(ms)} ms`)
  }
  expect(dear).toEqual([])
}

/** Percent-encoded, and no longer than a query may be. */
function encoded(text: string, length: number): string {
  const whole = encodeURIComponent(text.toWellFormed())
  const most = Math.floor((length * text.length) / Math.max(length, whole.length))
  return encodeURIComponent(text.slice(0, most).toWellFormed())
}

type Texts = {
  /** A valid text: lists of it are tried, too. */
  readonly example?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly shapes?: typeof SHAPES
}

/** What a browser sends when it opens a page. */
const BROWSED: Texts = { headers: { accept: HTML }, shapes: COMMON_SHAPES }

/** Each time two other shapes, for places of which there are hundreds and which the same code reads. */
let taken = 0
function fewShapes(): typeof SHAPES {
  taken += 2
  return [taken, taken + 1].flatMap(at => COMMON_SHAPES[at % COMMON_SHAPES.length] ?? [])
}
const few = (): Texts => ({ ...BROWSED, shapes: fewShapes() })

/** All shapes for the first place with a rule, and few for each further one. */
const tried = new Set<string>()
const textsFor = (rule: string, example: string): Texts =>
  tried.size < tried.add(rule).size ? { example } : { shapes: fewShapes() }

/** Requests with a long text of every shape at one place. */
const withTexts = (
  name: string,
  pathOf: (text: string) => string,
  { example, headers = {}, shapes = SHAPES }: Texts = {},
): readonly Request[] =>
  [...shapes, ...(example === undefined ? [] : shapesOf(example))].map(shape => ({
    name: `${name} ${shape.name}`,
    ask: run => read(pathOf(encoded(shape.of(QUERY_LENGTH - 200 - run), QUERY_LENGTH - 200)), headers),
    ...('accept' in headers ? { short: run => read(pathOf(`a${run}`), headers) } : {}),
  }))

/** The valid parameters that an action needs, as a query. */
const neededBy = (params: (typeof actions)[number]['params'], but: string): string =>
  listParameters(params)
    .filter(({ name, required }) => required && name !== but)
    .map(({ name, spec }) => `${name}=${encodeURIComponent(spec.example)}&`)
    .join('')

test('cost: every parameter of every action', async () => {
  const requests = actions.flatMap(({ module, action, params }) =>
    listParameters(params).flatMap(({ name, spec }) =>
      withTexts(
        `${module}/${action} ${name}`,
        text => `/api/${module}/${action}?${neededBy(params, name)}${name}=${text}`,
        textsFor(`${name} ${spec.rule.en}`, spec.example),
      ),
    ),
  )
  await expectCheap(requests)
})

test('cost: parameters of all actions, and unknown ones', async () => {
  const route = '/api/account/get-account-tx?account=busyhub'
  const old = `${route}&compat=iostabc`
  const addresses: readonly ((text: string) => string)[] = [
    ...Object.keys(OPTION_VALUES).map(name => (text: string) => `${route}&${name}=${text}`),
    ...['module', 'action', 'lang', '_', 'apikey', 'lastEventId'].map(
      name => (text: string) => `/api/?${name}=${text}`,
    ),
    text => `${old}&${text}=1`,
    text => `${old}&a=${text}`,
    // A text that is not decoded.
    text => `${old}&${decodeURIComponent(text).replaceAll(/[^!-~]|#/g, '%')}`,
  ]
  await expectCheap(addresses.flatMap(address => withTexts(address('…'), address)))
})

test('cost: every path, its open segments and any parameter', async () => {
  // Pages in one language.
  const routes = new Set(service.app.routes.map(({ path }) => path).filter(path => !path.startsWith('/zh/')))
  const requests = [...routes].flatMap(route => {
    const [open = [], name = route] = [route.match(/:\w+|\*/g) ?? [], route]
    const filled = (text: string) => route.replaceAll(/:\w+|\*/g, text)
    return [
      ...(open.length === 0 ? [] : withTexts(`${name} segment`, filled, BROWSED)),
      ...withTexts(`${name} name`, text => `${filled('iost')}?${text}=1`, few()),
      ...withTexts(`${name} value`, text => `${filled('iost')}?a=${text}`, few()),
    ]
  })
  expect(requests.length).toBeGreaterThan(250)
  await expectCheap(requests)
})

const SOURCES = ['src/explorer', 'src/http'].flatMap(top =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .filter(name => /(?<!\.test)\.tsx?$/.test(name))
    .map(name => readFileSync(join(ROOT, top, name), 'utf8')),
)

/** Names that the code reads from something. */
const namesIn = (pattern: RegExp): readonly string[] => [
  ...new Set(SOURCES.flatMap(text => [...text.matchAll(pattern)].map(([, name = '']) => name))),
]

test('cost: every parameter of every page', async () => {
  const known = namesIn(/query\.get(?:All)?\('(\w+)'\)/g)
  expect(known).toContain('text')
  const requests = pages.flatMap(({ path, fields = [] }) => {
    const names = new Set([...fields.map(({ name }) => name), ...known])
    const own = path.replaceAll(/\{(?:id|part)\}/g, 'iost')
    return [...names].flatMap(name =>
      withTexts(`${path} ${name}`, text => `${own}?${name}=${text}`, {
        ...BROWSED,
        shapes: name === 'text' && path.startsWith('/search') ? SHAPES : fewShapes(),
      }),
    )
  })
  await expectCheap(requests)
})

test('cost: every header', async () => {
  const known = namesIn(/headers\.(?:get|has)\('([\w-]+)'\)/gi)
  const others = ['cookie', 'host', 'if-none-match', 'range', 'forwarded']
  const names = new Set([...known, ...namesIn(/'(x-[a-z-]+)'/g), ...others])
  expect([...names]).toContain('last-event-id')
  const feed = '/api/account/get-account-tx?account=busyhub&format=sse'
  const targets = ['/api/?module=nothing', feed, '/docs/nothing', '/zh']
  const isHeaderText = ({ of }: (typeof SHAPES)[number]) => /^[\t -~]*$/.test(of(100))
  const requests = [...names].flatMap(name =>
    targets.flatMap((path, at) =>
      (at === 0 ? SHAPES : fewShapes()).filter(isHeaderText).map(shape => ({
        name: `${name} of ${path} ${shape.name}`,
        ask: (run: number) => read(path, { [name]: shape.of(HEADER_LENGTH - run) }),
      })),
    ),
  )
  await expectCheap(requests)
})

test('cost: the address of a client, as proxies write it', async () => {
  const trusted = ['0.0.0.0/0', '::/0'].flatMap(text => parseIpRange(text) ?? [])
  const requests = ['x-forwarded-for', 'forwarded'].flatMap(name =>
    SHAPES.flatMap(shape =>
      ['', 'for='].map(before => ({
        name: `${name} ${before} ${shape.name}`,
        ask: async (run: number) => {
          const value = `${before}${shape.of(HEADER_LENGTH - run)}`
          findClient('10.0.0.1', { get: own => (own === name ? value : null) }, trusted)
        },
      })),
    ),
  )
  await expectCheap(requests)
})

test('cost: a page of a search that finds nothing in a long list', async () => {
  const lists = ['token/get-token-tx?token=iost', 'account/get-account-tx?account=busyhub']
  const requests = lists.flatMap(list =>
    ['memo=none', 'memo_prefix=none', 'min_amount=9999999', 'counterparty=none_'].map(filter => ({
      name: `${list}&${filter}`,
      ask: (run: number) => read(`/api/${list}&${filter}${run}&size=1`),
    })),
  )
  await expectCheap(requests)
})
