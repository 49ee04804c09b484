import { expect, test } from 'bun:test'
import { type Ask, askAtOneHeight, type CallParameters } from '#actions/ask.ts'
import { findRoute } from '#explorer/links.ts'
import type { Lang, Visit } from '#explorer/page.ts'
import { pages } from '#explorer/pages.ts'
import { Layout } from '#explorer/part/layout.tsx'
import { systemClock } from '#time/clock.ts'
import { cpuOf } from '../support/cost/cpu.ts'
import { COMMON_SHAPES, SHAPES } from '../support/cost/long-texts.ts'
import { action, receipt, transaction } from '../support/stores/hand-made.ts'
import { fillFromRecording, loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { foreignIn, nftsOn, readPage } from './read-page.ts'
import { choosePages, samplePaths } from './samples.ts'
import { explorerOn, explorerOnMade } from './served.ts'

/** Texts that code parses instead of only showing them. */
const READ = /^(?:-?\d+(?:\.\d+)?|\d{4}-\d\d-\d\dT.*Z|\d{4}-\d\d-\d\d|[[{].*)$/s
/** Fields whose text decides what a page shows. */
const DECIDING = new Set(['func_name', 'action_name', 'contract', 'status_code', 'status', 'type'])

type Spoil = (text: string, of: { readonly key: string; readonly isArgument: boolean }) => string

function spoiler(spoil: Spoil, spares: ReadonlySet<string>) {
  const were = new Map<string, string>()
  const spoilText = (text: string, key: string, isArgument: boolean): string => {
    const other = spoil(text, { key, isArgument })
    were.set(other, text)
    return other
  }
  const spoilAll = (value: unknown, key = '', isArgument = false): unknown => {
    if (typeof value === 'string') {
      if (/^\[/.test(value) && (key === 'data' || key === 'content')) return spoilList(value, key)
      return (READ.test(value) && !isArgument) || spares.has(key) ? value : spoilText(value, key, isArgument)
    }
    if (Array.isArray(value)) return value.map(each => spoilAll(each, key, isArgument))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, spoilAll(each, name, isArgument)]))
  }
  const spoilList = (text: string, key: string): string => {
    try {
      return JSON.stringify(spoilAll(JSON.parse(text), '', true))
    } catch {
      return spoilText(text, key, true)
    }
  }
  const correct = (given: CallParameters): CallParameters => {
    // One text may begin with another.
    const known = [...were].sort(([one], [other]) => other.length - one.length)
    const own = (text: string) => known.reduce((all, [other, first]) => all.replaceAll(other, () => first), text)
    return Object.fromEntries(Object.entries(given).map(([name, text]) => [name, own(text)]))
  }
  return { spoilAll, correct }
}

const site = {
  ...{ version: '1', isExplored: true, testKey: undefined, labels: new Map() },
  assets: { style: 's', script: 'j', theme: 't', preview: 'preview' },
}

type Spoiling = { readonly lang: Lang; readonly spoil: Spoil; readonly spares: ReadonlySet<string> }

/** The page that is shown when the texts of the chain are others. Fields of `spares` keep their texts. */
async function spoilPage(path: string, { lang, spoil, spares }: Spoiling): Promise<string | undefined> {
  const none = { get: () => undefined }
  const deps = { store: await loadedStore(), node: undefined, prices: none, profiles: none, clock: systemClock }
  const { pathname, searchParams: query } = new URL(path, 'http://127.0.0.1')
  const { found: page, id = '', part = '' } = findRoute(pages, pathname) ?? {}
  return askAtOneHeight(
    deps,
    async asking => {
      const { spoilAll, correct } = spoiler(spoil, spares)
      let before: Promise<unknown> = Promise.resolve()
      // In the order of the calls: which texts become long does not depend on how fast each is answered.
      const ask: Ask = (action, given = {}) => {
        const answer = asking.ask(action, correct(given))
        const spoilt = Promise.allSettled([before, answer]).then(async () => spoilAll(await answer) as never)
        before = spoilt
        return spoilt
      }
      const address = { root: '../', origin: 'http://127.0.0.1/', isOriginKnown: false, path: pathname }
      const visit: Visit = {
        ...{ site, ...address, lang, id, part, query, now: 0, ask, peek: ask, at: asking.at, storage: undefined },
        say: text => text[lang],
      }
      const shown = await page?.show(visit)
      if (shown === undefined || 'to' in shown) return undefined
      return Layout({ frame: { ...visit, height: 1, calls: [] }, shown })
    },
    { signal: AbortSignal.timeout(600_000) },
  )
}

/** Worse than any text of the recording: it would close its element, run a script, and reverse the following text. */
const HOSTILE = `"'></title></textarea></pre><script>bad()</script><img src=x onerror=bad()><a href=javascript:bad()>\u202e\u0000`

const headOf = (html: string) =>
  [...html.matchAll(/<(?:title>|meta name="description" content=")(.*?)(?:<\/title>|")/gs)].map(([, text = '']) => text)

const isUnfit = (text: string): boolean => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) || text.length > 1_000

const paths = await samplePaths(await explorerOn())

/** Some pages of each kind, and every so many transactions of the samples. */
function chooseSome(each: number, every: number): readonly string[] {
  const transactions = paths.filter(path => path.startsWith('/tx/'))
  const others = paths.filter(path => !path.startsWith('/tx/'))
  return [...choosePages(others, each), ...transactions.filter((_path, at) => at % every === 0)]
}

test.each([
  ['all texts', new Set<string>()],
  ['texts that nothing depends on', DECIDING],
])('hostile: %s of every page are shown, and have no effect', async (_, spares) => {
  let shown = 0
  const some = chooseSome(4, 2)
  for (const [at, path] of some.entries()) {
    const lang = at % 3 === 0 ? 'zh' : 'en'
    let number = 0
    // Arguments that are numbers keep their value.
    const spoil = (text: string) => (/^-?\d+(?:\.\d+)?$/.test(text) ? text : `${HOSTILE}${number++}`)
    const html = await spoilPage(path, { lang, spoil, spares })
    if (html === undefined) continue
    const page = await readPage(html)
    expect([path, foreignIn(page)]).toEqual([path, []])
    expect([path, headOf(html).length, headOf(html).filter(isUnfit)]).toEqual([path, 2, []])
    // Characters that reverse text or are invisible are written as escapes.
    expect([path, /[\u202e\0]/.test(page.text)]).toEqual([path, false])
    shown += html.includes('bad()') ? 1 : 0
  }
  expect(shown).toBeGreaterThan(some.length / 2)
})

test('hostile: a text in a request is part of title and description as one line of limited length', async () => {
  const { visit } = await explorerOn()
  for (const text of [`${HOSTILE}\n\u2028\u2066`, 'x'.repeat(6_000), '\u202e'.repeat(600)]) {
    const id = encodeURIComponent(text)
    for (const path of [`/search?text=${id}`, `/account/${id}`, `/tx/${id}`, `/zh/token/${id}`, `/${id}`]) {
      const { html } = await visit(path)
      expect([path.slice(0, 20), headOf(html).length, headOf(html).filter(isUnfit)]).toEqual([path.slice(0, 20), 2, []])
    }
  }
})

/** The longest text of a transaction, and one after which pages show no more of it. */
const LONGEST = 64_000
const LONG = 32_000
/** Most milliseconds of CPU for a page with some twenty such texts. One in quadratic time takes seconds. */
const MAX_MS = 400

/** Fields whose texts anybody may write as long as he likes; the chain limits those of names. */
const FREE: ReadonlySet<string> = new Set([
  ...['data', 'memo', 'return', 'content', 'message', 'full_name', 'fullName', 'orig_info', 'metadata', 's', 'args'],
  ...['language', 'version', 'code', 'loc', 'url', 'value', 'func_name', 'action_name', 'contract'],
])

const ARGUMENTS = 10

/** Makes the first text of each field long, and the first arguments of calls. No two texts are equal. */
function longest(of: (length: number) => string, length: number): Spoil {
  const seen = new Map<string, number>()
  return (text, { key, isArgument }) => {
    if (!isArgument && !FREE.has(key)) return text
    const field = isArgument ? 'argument' : key
    const before = seen.get(field) ?? 0
    seen.set(field, before + 1)
    if (before >= (isArgument ? ARGUMENTS : 1)) return text
    return `${of(length - 4).toWellFormed()}${1_000 + seen.size * 20 + before}`
  }
}

/** Amounts as an argument may have them: their digits are grouped, and their zeros trimmed. */
const AMOUNTS: typeof SHAPES = [
  { name: 'digits', of: length => '1'.repeat(length) },
  { name: 'decimals', of: length => `1.${'0'.repeat(length - 2)}` },
]

/** Shapes of one page: the pages take turns, so that each shape is tried on several of them. */
const EACH = 3

// Whoever publishes a transaction chooses its texts, up to 64 KB of them.
test.each([
  ['all texts', new Set<string>(), COMMON_SHAPES],
  ['texts that nothing depends on', DECIDING, SHAPES],
] as const)('long texts: %s of every page are shown in linear time and bounded length', async (_, spares, shapes) => {
  const faults: string[] = []
  const some = chooseSome(1, 4)
  expect(some.length * EACH).toBeGreaterThan(shapes.length)
  for (const [turn, path] of some.entries()) {
    const own = Array.from({ length: EACH }, (_each, at) => shapes[(turn * EACH + at) % shapes.length])
    const amounts = path.startsWith('/tx/') ? AMOUNTS : []
    for (const [at, { name, of }] of [...own.filter(shape => shape !== undefined), ...amounts].entries()) {
      const show = (length: number) => spoilPage(path, { lang: 'en', spoil: longest(of, length), spares })
      let html: string | undefined
      const ms = await cpuOf(async () => {
        html = await show(LONGEST)
      }, MAX_MS)
      if (ms > MAX_MS) faults.push(`${path} ${name}: ${Math.round(ms)} ms`)
      if (at % EACH > 0) continue
      const more = (html?.length ?? 0) - ((await show(LONG))?.length ?? 0)
      if (more > 1_000) faults.push(`${path} ${name}: ${more} characters more`)
    }
  }
  expect(faults).toEqual([])
})

const XS = 'x'.repeat(60_000)

test('long texts: one that anybody can write is cut in rows, in no title, and no link to an impossible contract', async () => {
  // Calls of missing actions or contracts fail, but are shown in public lists.
  const end = { statusCode: 'RUNTIME_ERROR', message: 'prepare contract: not found' }
  const failed = (name: string) =>
    Array.from({ length: 25 }, () => transaction({ actions: [action(name, [])], receipt: end }))
  // Its publisher chooses the language and the version of a contract's code.
  const code = { info: { lang: 'javascript', version: `9.${XS.slice(0, 10_000)}`, abi: [] }, code: 'class A {}' }
  const deployment = transaction({ actions: [action('system.iost/setCode', [JSON.stringify(code)])] })
  const applied = receipt('vote_producer.iost/applyRegister', ['bob0000', 'key', XS, XS, '', true])
  await using service = await explorerOnMade(
    [[transaction({ receipts: [applied] })], ...[failed(`token.iost/${XS}`), failed(`${XS}/x`)], [deployment]],
    { isKeyless: true },
  )
  for (const path of [
    ...['/contract/token.iost', '/account/alice00', '/account/alice00?page=2', '/producers'],
    ...['/transactions', '/transactions?page=2', '/'],
  ]) {
    const { html, response } = await service.visit(path)
    expect([path, response.status, html.length < 100_000]).toEqual([path, 200, true])
  }
  expect((await service.visit('/contract/token.iost')).text).toContain(`${XS.slice(0, 32)}…`)
  const { links, text: list } = await service.visit('/transactions')
  expect(list).toContain('xxxxxxxxxx…xxxxxx')
  expect(links.filter(({ href }) => /contract\/x/.test(href))).toEqual([])
  const { html, text } = await service.visit(`/contract/Contract${deployment.hash}`)
  const titles = [...html.matchAll(/<h2[^>]*>([^<]*)/g)].map(([, title = '']) => title)
  expect(titles.filter(title => /x{9}/.test(title))).toEqual([])
  expect(text).toContain('javascript 9.xxxxxxxxx')
})

test('owners with impossible names: they are the recipients of what was issued to them, and marked as no accounts', async () => {
  // A blank at the end, and a Cyrillic letter. The balance of the second is lost.
  const receipts = ['bob0000 ', 'b\u043eb0000'].map(text => receipt('token.iost/issue', ['iost', text, '7']))
  const made = transaction({ receipts })
  const failed = transaction({ actions: [action('token.iost /run', [])], receipt: { statusCode: 'RUNTIME_ERROR' } })
  await using service = await explorerOnMade([[made, failed]])
  const countMarks = async (path: string, mark: string) => (await service.visit(path)).text.split(mark).length - 1
  // The page of a token also lists the largest holders.
  for (const [path, count] of [
    ['/token/iost?from=2019-03-01', 3],
    ['/token/iost?holders=1', 2],
    [`/tx/${made.hash}`, 2],
    ['/transactions', 2],
  ] as const) {
    const counts = [await countMarks(path, 'not an account'), await countMarks(`/zh${path}`, '非账户')]
    expect([path, counts]).toEqual([path, [count, count]])
  }
  const { links } = await service.visit('/token/iost?start_block=1')
  expect(links.filter(({ href }) => href.endsWith('contract/token.iost'))).toEqual([])
  const { html } = await service.visit('/account/alice00')
  const offered = [...html.matchAll(/<option>([^<]*)/g)].map(([, name = '']) => name)
  expect([offered.includes('deadaddr'), offered.filter(name => /b.b0000/.test(name))]).toEqual([true, []])
  const unlike = [await countMarks('/transactions', 'not a contract'), await countMarks('/zh/transactions', '非合约')]
  expect(unlike).toEqual([1, 1])
})

test('many NFTs: an account shows the first ones and their number, a collection has pages, and metadata stays text', async () => {
  const long = `${HOSTILE}${'x'.repeat(20_000)}`
  const issued = Array.from({ length: 30 }, () => receipt('token721.iost/issue', ['cats', 'alice00', long]))
  const receipts = [receipt('token721.iost/create', ['cats', 'alice00', '1000']), ...issued]
  await using service = await explorerOnMade([[transaction({ receipts })]])
  const { visit } = service
  const account = await visit('/account/alice00')
  expect(nftsOn(account).length).toBe(10)
  expect(account.text).toMatch(/NFTs: 30.*The first 10 of 30\./s)
  const [first, second] = [await visit('/nft/cats'), await visit('/nft/cats?page=2')]
  expect([...nftsOn(first), ...nftsOn(second)]).toEqual(issued.map((_, at) => `cats/${29 - at}`))
  for (const page of [account, first, second, await visit('/zh/nft/cats/7')]) {
    expect([page.response.status, foreignIn(page), /\u202e/.test(page.text)]).toEqual([200, [], false])
    expect(page.html).toContain('bad()')
  }
  const { response } = await visit('/nft/cats/7?raw=1')
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await response.text()).toBe(long)
})

const PLURAL =
  /(?<![\d.,-])1 (?:[a-z]+ )*(?:blocks|transactions|tokens|contracts|collections|NFTs|owners|holders|voters|votes|producers|rows|days)\b/g

test('pages of a chain with only genesis use the singular for a count of one', async () => {
  const { store, destroy } = await temporarySqlite()
  await fillFromRecording(store, { to: 0 })
  const { visit } = await explorerOn({}, store)
  expect((await visit('/blocks')).html).toContain('1 block, newest first.')
  expect((await visit('/block/0')).html).toContain(', 1 transaction.')
  const lists = ['/', '/blocks', '/transactions', '/contracts', '/tokens', '/nfts', '/producers', '/wealth']
  const opened = new Set([...lists, '/search?text=iost'])
  for (const list of lists)
    for (const { href, tag } of (await visit(list)).links) {
      const { pathname } = new URL(href, `http://localhost${list}`)
      if (tag === 'a' && /^\/(?:block|tx|token|contract|account|producer|nft|search)/.test(pathname))
        opened.add(pathname)
    }
  for (const path of opened) expect([path, (await visit(path)).html.match(PLURAL)]).toEqual([path, null])
  expect(opened.size).toBeGreaterThan(20)
  await destroy()
})
