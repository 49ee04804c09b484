import { parseExact, writeJson } from '#chain/json.ts'
import type { Published } from '#store/port.ts'
import { type AnswerDeps, atOnce, contextFor, inTurn, type Turn } from './answer.ts'
import type { Typed } from './define.ts'
import { type StorageReader, storageReader } from './find/contract-storage.ts'
import { readParams } from './request/query.ts'

/** Parameters of a call, as a query would give them. */
export type CallParameters = Readonly<Record<string, string>>

/**
 * Answers one call of the interface as `numbers=string` writes it. Throws Failure: 'bad_request', 'not_found', 'loading',
 * 'unavailable'.
 */
export type Ask = <A>(action: Typed<A>, given?: CallParameters) => Promise<A>

/** What an action answers, as `numbers=string` writes it. */
export type AnswerOf<A extends Typed> = NonNullable<A['answer']>

/** Calls that are answered together: of one height, `at`. */
export type Asking = {
  readonly ask: Ask
  readonly at: Published
  /** Reads the storage of contracts, which no action answers; undefined: there is no node to ask. */
  readonly storage: StorageReader | undefined
}

/**
 * Runs work that makes several calls, all of them at one height. The store may begin it again when the height moved
 * meanwhile, so it has no effects but its result.
 */
export const askTogether = async <T>(
  deps: AnswerDeps,
  work: (asking: Asking) => Promise<T>,
  { signal, turn = atOnce }: { readonly signal: AbortSignal; readonly turn?: Turn },
): Promise<T> =>
  inTurn(turn, ({ apart }) =>
    deps.store.read(
      view => {
        const ask: Ask = async (action, given = {}) => {
          const params = readParams(action.params, Object.entries(given), { unknown: 'refuse' })
          action.check?.(params)
          const data = await action.run(
            contextFor(deps, { view, params, compat: 'none', signal, apart }),
            params,
          )
          // Texts of the chain that are JSON come along as they are: their numbers keep their digits, too.
          return parseExact(writeJson(data, { numbers: 'string' })) as never
        }
        const { node } = deps
        const storage = node && storageReader({ node, apart, signal })
        return work({ ask, at: view.at, storage })
      },
      { signal },
    ),
  )
