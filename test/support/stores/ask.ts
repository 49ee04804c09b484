import { type AnswerDeps, answer } from '#actions/answer.ts'
import { nameOf } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import type { Options } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import { writeJson } from '#chain/json.ts'
import { systemClock } from '#time/clock.ts'
import { loadedStore } from './loaded.ts'

const PLAIN: Options = { lang: 'en', format: 'envelope', compat: 'none', numbers: 'number' }

/** What a call may be given beside its action's own parameters. */
export type AskWith = Partial<Options> & { readonly deps?: Partial<AnswerDeps> }

// Awaited here, not in a test: loading the chain takes longer than a test may.
const recorded = await loadedStore()

/** Text of `data` for a query, over the recorded chain unless `deps` has another store. */
export const askQuery = async (query: Query, { deps, ...options }: AskWith = {}): Promise<string> => {
  const chosen = { ...PLAIN, ...options }
  const { data } = await answer(
    {
      store: deps?.store ?? recorded,
      node: deps?.node,
      prices: deps?.prices ?? { get: () => undefined },
      profiles: deps?.profiles ?? { get: () => undefined },
      clock: deps?.clock ?? systemClock,
      rankings: deps?.rankings,
      dayEnds: deps?.dayEnds,
      rankingMs: deps?.rankingMs,
    },
    { query, options: chosen },
    { signal: AbortSignal.timeout(600_000) },
  )
  return writeJson(data, { numbers: chosen.numbers })
}

/** Text of `data` for an action, by its name over all modules, with its parameters. */
export const askText = (
  action: string,
  params: Readonly<Record<string, string>> = {},
  options: AskWith = {},
): Promise<string> => {
  const found = actions.find(known => nameOf(known) === action)
  const named = [
    ['module', found?.module ?? ''],
    ['action', found?.action ?? action],
  ] as const
  return askQuery([...named, ...Object.entries(params)], options)
}

/** `data` as a program reads it. Numbers that may exceed a double are text, so that nothing is lost. */
export const ask = async (
  action: string,
  params: Readonly<Record<string, string>> = {},
  options: AskWith = {},
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is checked by what it compares it with.
): Promise<any> => JSON.parse(await askText(action, params, { numbers: 'string', ...options }))
