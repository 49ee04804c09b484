import { type AnswerDeps, acquireFreely } from '#actions/answer.ts'
import { askAtOneHeight } from '#actions/ask.ts'
import { actions } from '#actions/registry.ts'
import { formatRoot } from '#explorer/links.ts'
import { showPage } from '#explorer/show.tsx'
import { systemClock } from '#time/clock.ts'
import type { Chain } from '../chain.ts'
import { openPlace, type Place } from '../place.ts'
import { countShares, formatTable, type TableRow } from '../report.ts'

/** Number of calls of each page and of its actions for each second of the run; a tenth more are not measured. */
const CALLS = 20

/** Pages that are opened most often, and those that cost most. */
const listPaths = ({ name, hub, token, last }: Chain): readonly string[] => [
  ...['/', '/blocks', '/transactions', `/block/${last}`],
  ...(name === 'recorded' ? ['/tx/EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e'] : []),
  ...[`/account/${hub}`, '/contract/token.iost', `/token/${token}`, '/producer/producer000', '/wealth', '/statistics'],
]

/** Pages rendered in this process, each in turns with the actions from which it is made. */
export async function measureExplorer(place: Place): Promise<string> {
  const store = openPlace(place.path, place.elastic?.url)
  const none = { get: () => undefined }
  const deps: AnswerDeps = { store, node: undefined, prices: none, profiles: none, clock: systemClock }
  const calls = CALLS * place.options.seconds * place.options.rounds
  const rows: TableRow[] = []
  for (const path of listPaths(place.chain)) rows.push(await measurePage(deps, path, calls))
  await store.close()
  return formatTable(rows)
}

async function measurePage(deps: AnswerDeps, path: string, count: number): Promise<TableRow> {
  const { signal } = new AbortController()
  const show = async (): Promise<string> => {
    const shown = await showPage(deps, createRequest(path), { signal, acquire: acquireFreely })
    if ('to' in shown) throw new Error(`${path} only leads to ${shown.to}.`)
    return shown.text
  }
  const text = await show()
  const calls = findCalls(text)
  if (calls.length === 0) throw new Error(`${path} links to no call.`)
  const ask = () =>
    askAtOneHeight(deps, context => Promise.all(calls.map(({ action, given }) => context.ask(action, given))), {
      signal,
    })
  const [page, alone] = [[] as number[], [] as number[]]
  for (let call = -Math.ceil(count / 10); call < count; call++)
    for (const [times, run] of [[page, show] as const, [alone, ask] as const]) {
      const start = performance.now()
      await run()
      if (call >= 0) times.push(performance.now() - start)
    }
  const [own, actionsAlone] = [countShares(page), countShares(alone)]
  return {
    ...{ page: path, actions: calls.length, bytes: Buffer.byteLength(text) },
    ...{ gzip: Bun.gzipSync(text, { level: 1 }).length, 'p50 ms': own.p50, 'p99 ms': own.p99 },
    ...{ 'its actions, p50 ms': actionsAlone.p50, '÷ actions': own.p50 / actionsAlone.p50 },
  }
}

function createRequest(path: string): Parameters<typeof showPage>[1] {
  return {
    site: {
      ...{ version: 'benchmark', isExplored: true, labels: new Map() },
      // With a shared test key a page links to the calls it is made of.
      testKey: 'benchmark',
      assets: { style: 'style', script: 'script', theme: 'theme', preview: 'preview' },
    },
    ...{ root: formatRoot('en', path), lang: 'en', path, origin: 'http://127.0.0.1/', isOriginKnown: false },
    now: Date.now(),
    query: new URLSearchParams(),
  }
}

/** The calls listed on a page as its sources. */
function findCalls(text: string) {
  return [...text.matchAll(/href="[./]*api\/\?([^"]*)"/g)].flatMap(([, query = '']) => {
    const parameters = Object.fromEntries(new URLSearchParams(query.replaceAll('&amp;', '&')))
    const { module, action: name, format, apikey: _key, ...given } = parameters
    const action = actions.find(each => each.module === module && each.action === name)
    return action === undefined || format !== undefined ? [] : [{ action, given }]
  })
}
