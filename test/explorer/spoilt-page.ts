import { type Ask, askAtOneHeight, type CallParameters } from '#actions/ask.ts'
import { findRoute } from '#explorer/links.ts'
import type { Lang, Visit } from '#explorer/page.ts'
import { pages } from '#explorer/pages.ts'
import { Layout } from '#explorer/part/layout.tsx'
import { systemClock } from '#time/clock.ts'
import { loadedStore } from '../support/stores/loaded.ts'

/** Texts that code parses instead of only showing them. */
const READ = /^(?:-?\d+(?:\.\d+)?|\d{4}-\d\d-\d\dT.*Z|\d{4}-\d\d-\d\d|[[{].*)$/s
/** Fields whose text decides what a page shows. */
export const DECIDING: ReadonlySet<string> = new Set([
  ...['func_name', 'action_name', 'contract', 'status_code', 'status', 'type'],
])

/** The text that a text of an answer becomes. */
export type Spoil = (text: string, of: { readonly key: string; readonly isArgument: boolean }) => string

/** Replaces the texts of an answer, and keeps the originals. */
function spoiler(spoil: Spoil, spares: ReadonlySet<string>) {
  const were = new Map<string, string>()
  const spoilt = (text: string, key: string, isArgument: boolean): string => {
    const other = spoil(text, { key, isArgument })
    were.set(other, text)
    return other
  }
  const spoilAll = (value: unknown, key = '', isArgument = false): unknown => {
    if (typeof value === 'string') {
      if (/^\[/.test(value) && (key === 'data' || key === 'content')) return spoiltList(value, key)
      return (READ.test(value) && !isArgument) || spares.has(key) ? value : spoilt(value, key, isArgument)
    }
    if (Array.isArray(value)) return value.map(each => spoilAll(each, key, isArgument))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, spoilAll(each, name, isArgument)]))
  }
  const spoiltList = (text: string, key: string): string => {
    const list = listOf(text)
    return list === undefined ? spoilt(text, key, true) : JSON.stringify(spoilAll(list, '', true))
  }
  /** The original names in the parameters of a page's next call. */
  const corrected = (given: CallParameters): CallParameters => {
    // One text may begin with another.
    const known = [...were].sort(([one], [other]) => other.length - one.length)
    const own = (text: string) => known.reduce((all, [other, first]) => all.replaceAll(other, () => first), text)
    return Object.fromEntries(Object.entries(given).map(([name, text]) => [name, own(text)]))
  }
  return { spoilAll, corrected }
}

function listOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const site = {
  version: '1',
  isExplored: true,
  testKey: undefined,
  labels: new Map(),
  assets: { style: 's', script: 'j', theme: 't', preview: 'preview' },
}

/** The page that is shown when the texts of the chain are others. Fields of `spares` keep their texts. */
export async function spoiltPage(
  path: string,
  { lang, spoil, spares }: { readonly lang: Lang; readonly spoil: Spoil; readonly spares: ReadonlySet<string> },
): Promise<string | undefined> {
  const deps = {
    store: await loadedStore(),
    node: undefined,
    prices: { get: () => undefined },
    profiles: { get: () => undefined },
    clock: systemClock,
  }
  const { pathname, searchParams: query } = new URL(path, 'http://127.0.0.1')
  const { found: page, id = '', part = '' } = findRoute(pages, pathname) ?? {}
  return askAtOneHeight(
    deps,
    async asking => {
      const { spoilAll, corrected } = spoiler(spoil, spares)
      let before: Promise<unknown> = Promise.resolve()
      // In the order of the calls: which texts become long does not depend on how fast each is answered.
      const ask: Ask = (action, given = {}) => {
        const answer = asking.ask(action, corrected(given))
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
