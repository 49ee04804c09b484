import { type AnswerDeps, atOnce } from '#actions/answer.ts'
import { askAtOneHeight, type CallParameters } from '#actions/ask.ts'
import type { Action } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { rootFrom } from '#explorer/links.ts'
import { showPage } from '#explorer/show.tsx'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { systemClock } from '#time/clock.ts'
import { fixed, interleaved, table, whole } from './measure.ts'

/** Pages of the recorded chain: those opened most often, and those that cost most. */
const PATHS = [
  '/',
  '/blocks',
  '/transactions',
  '/block/4824',
  '/tx/EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e',
  '/account/busyhub',
  '/contract/token.iost',
  '/token/iost',
  '/producer/producer000',
  '/wealth',
  '/statistics',
] as const
/** Number of calls of each page and of its actions. */
const CALLS = 200

const HEADING = ['page', 'actions', 'bytes', 'gzip', 'p50 ms', 'p99 ms', 'its actions, p50 ms', '÷ actions']

/**
 * Cost of pages in the process compared with the actions from which they are made, on an SQLite file with the
 * recorded chain.
 */
export const explorerTable = async (file: string): Promise<string> => {
  const store = openSqlite({ path: file, readonly: true })
  const none = { get: () => undefined }
  const deps: AnswerDeps = { store, node: undefined, prices: none, profiles: none, clock: systemClock }
  const rows: (readonly string[])[] = []
  for (const path of PATHS) rows.push(await rowOf(deps, path))
  await store.close()
  return table(HEADING, rows)
}

const rowOf = async (deps: AnswerDeps, path: string): Promise<readonly string[]> => {
  const { signal } = new AbortController()
  const page = async (): Promise<string> => {
    const shown = await showPage(deps, askedFor(path), { signal, turn: atOnce })
    if ('to' in shown) throw new Error(`${path} only leads to ${shown.to}.`)
    return shown.text
  }
  const text = await page()
  const calls = callsIn(text)
  if (calls.length === 0) throw new Error(`${path} links to no call.`)
  const asking = () =>
    askAtOneHeight(deps, ({ ask }) => Promise.all(calls.map(({ action, given }) => ask(action, given))), {
      signal,
    })
  const asks = [
    { name: 'page', ask: page },
    { name: 'actions', ask: asking },
  ]
  const [own, alone] = await interleaved(asks, { calls: CALLS, clients: 1 })
  if (own === undefined || alone === undefined) return []
  return [
    path,
    String(calls.length),
    whole(Buffer.byteLength(text)),
    whole(Bun.gzipSync(text, { level: 1 }).length),
    fixed(own.p50),
    fixed(own.p99),
    fixed(alone.p50),
    fixed(own.p50 / alone.p50),
  ]
}

const askedFor = (path: string) => ({
  site: {
    version: 'benchmark',
    isExplored: true,
    // With a shared test key a page links to the calls it is made of.
    testKey: 'benchmark',
    labels: new Map(),
    assets: { style: 'style', script: 'script', theme: 'theme', preview: 'preview' },
  },
  ...({
    root: rootFrom('en', path),
    lang: 'en',
    path,
    origin: 'http://127.0.0.1/',
    isOriginKnown: false,
    now: Date.now(),
  } as const),
  query: new URLSearchParams(),
})

/** The calls listed on a page as its sources. */
const callsIn = (text: string): readonly { readonly action: Action; readonly given: CallParameters }[] =>
  [...text.matchAll(/href="[./]*api\/\?([^"]*)"/g)].flatMap(([, query = '']) => {
    const {
      module,
      action: name,
      format,
      apikey: _key,
      ...given
    } = Object.fromEntries(new URLSearchParams(query.replaceAll('&amp;', '&')))
    const action = actions.find(each => each.module === module && each.action === name)
    return action === undefined || format !== undefined ? [] : [{ action, given }]
  })
