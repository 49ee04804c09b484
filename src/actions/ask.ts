import { parseExact, writeJson } from '#chain/json.ts'
import type { Published } from '#store/port.ts'
import { type AcquirePermit, type AnswerDeps, acquireFreely, createContext, holdPermit } from './answer.ts'
import type { Typed } from './define.ts'
import { type StorageReader, storageReader } from './find/node-answer.ts'
import { readParams } from './request/query.ts'

export type CallParameters = Readonly<Record<string, string>>

/**
 * Answers one call of the interface, with numbers in the form of `numbers=string`. Throws Failure:
 * 'bad_request', 'not_found', 'loading', 'unavailable'.
 */
export type Ask = <A>(action: Typed<A>, params?: CallParameters) => Promise<A>

/** Type of an action's answer in the form of `numbers=string`. */
export type AnswerOf<A extends Typed> = NonNullable<A['answer']>

/** Calls that are answered together, at one height: `at`. */
export type AskContext = {
  readonly ask: Ask
  readonly at: Published
  /** Reads the storage of contracts, which no action returns; undefined: no node is configured. */
  readonly storage: StorageReader | undefined
}

/**
 * Runs work that makes several calls, all at one height. The store may restart it when the height changes, so
 * the result must be its only effect.
 */
export const askAtOneHeight = async <T>(
  deps: AnswerDeps,
  work: (asking: AskContext) => Promise<T>,
  { signal, acquire = acquireFreely }: { readonly signal: AbortSignal; readonly acquire?: AcquirePermit },
): Promise<T> =>
  holdPermit(acquire, ({ waitForNode, longWork }) =>
    deps.store.read(
      view => {
        const ask: Ask = async (action, parameters = {}) => {
          const params = readParams(action.params, Object.entries(parameters), { unknown: 'refuse' })
          action.check?.(params)
          const context = createContext(deps, { view, params, compat: 'none', signal, waitForNode, longWork })
          const data = await action.run(context, params)
          // Texts of the chain that are JSON are included unchanged; their numbers keep their digits, too.
          return parseExact(writeJson(data, { numbers: 'string' })) as never
        }
        const { node } = deps
        const storage = node && storageReader({ node, waitForNode, signal })
        return work({ ask, at: view.at, storage })
      },
      { signal },
    ),
  )
