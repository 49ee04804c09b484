import { type AnswerDeps, answer } from '#actions/answer.ts'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import type { Options } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import { writeJson } from '#chain/json.ts'
import { systemClock } from '#time/clock.ts'
import { loadedStore } from './loaded.ts'

const PLAIN: Options = { lang: 'en', format: 'envelope', compat: 'none', numbers: 'number' }

type AskWith = Partial<Options> & { readonly deps?: Partial<AnswerDeps> }

// Awaited here and not in a test, because loading the chain takes longer than a test's timeout.
const recorded = await loadedStore()

/** Text of `data` for a query, on the recorded chain unless `deps` has another store. */
export async function askQuery(query: Query, { deps, ...options }: AskWith = {}): Promise<string> {
  const chosen = { ...PLAIN, ...options }
  const none = { get: () => undefined }
  const { data } = await answer(
    { store: recorded, node: undefined, prices: none, profiles: none, clock: systemClock, ...deps },
    { query, options: chosen },
    { signal: AbortSignal.timeout(600_000) },
  )
  return writeJson(data, { numbers: chosen.numbers })
}

/** Text of `data` for an action, found by its name in all modules, with its parameters. */
export function askText(
  action: string,
  params: Readonly<Record<string, string>> = {},
  options: AskWith = {},
): Promise<string> {
  const found = actions.find(known => formatActionName(known) === action)
  const named = { module: found?.module ?? '', action: found?.action ?? action }
  return askQuery(Object.entries({ ...named, ...params }), options)
}

/** `data`, parsed. Numbers that may exceed a double are strings, so no digit is lost. */
export const ask = async (
  action: string,
  params: Readonly<Record<string, string>> = {},
  options: AskWith = {},
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is checked by what it compares it with.
): Promise<any> => JSON.parse(await askText(action, params, { numbers: 'string', ...options }))
