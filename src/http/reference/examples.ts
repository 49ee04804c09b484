import type { AnswerDeps } from '#actions/answer.ts'
import type { ApiAction } from '#actions/define.ts'
import { chooseExample, type Example, findScenes } from '#actions/example/choose.ts'
import type { OptionDefaults } from '#actions/request/options.ts'
import { Failure } from '#failure/failure.ts'
import { within } from '#time/deadline.ts'
import { listFieldRows } from './action.ts'

export type Examples = ReadonlyMap<ApiAction, Example>

/** Milliseconds after which a chain that lacked an example is searched again. */
const AGAIN_MS = 60_000
/** Time limit of the search, so that pages do not wait for a store that hangs. */
const TIMEOUT_MS = 5_000

/**
 * Calls that have an answer on the served chain, chosen at the first request and kept while the process runs:
 * data of the chain never disappears. A missing call is searched again after a minute. Never throws: a store
 * that cannot be read leaves the pages without examples.
 */
export function servedExamples(
  deps: AnswerDeps,
  actions: readonly ApiAction[],
  defaults: OptionDefaults,
): () => Promise<Examples> {
  let known: Examples = new Map()
  let askedAt = Number.NEGATIVE_INFINITY
  let underWay: Promise<void> | undefined
  const find = async (): Promise<void> => {
    const controller = new AbortController()
    const stop = deps.clock.after(TIMEOUT_MS, () => controller.abort())
    try {
      const { signal } = controller
      const found = await within(chooseAll(deps, { actions, known, defaults }, signal), { signal })
      // The same object while nothing was found, since pages are made anew for another one.
      if (found.size > known.size) known = found
    } catch {
      // A caller of the action gets the failure itself.
    } finally {
      stop()
      askedAt = deps.clock.elapsed()
      underWay = undefined
    }
  }
  return async () => {
    const isDue = known.size < actions.length && deps.clock.elapsed() - askedAt >= AGAIN_MS
    if (isDue) underWay ??= find()
    await underWay
    return known
  }
}

type ExampleOptions = {
  readonly actions: readonly ApiAction[]
  readonly known: Examples
  readonly defaults: OptionDefaults
}

async function chooseAll(
  deps: AnswerDeps,
  { actions, known, defaults }: ExampleOptions,
  signal: AbortSignal,
): Promise<Examples> {
  const scenes = await deps.store.read(findScenes, { signal })
  const found = new Map(known)
  for (const action of actions) {
    if (found.has(action)) continue
    const numbers = listFieldRows(action.result).some(({ exact }) => exact) ? 'string' : 'number'
    const options = { ...defaults, numbers, lang: 'en' } as const
    const example = await chooseExample(deps, { action, scenes }, { options, signal }).catch(absent)
    if (example !== undefined) found.set(action, example)
  }
  return found
}

/** An action that cannot answer now has no example. Other actions are not affected. */
function absent(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error
}
