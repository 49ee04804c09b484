import { boundedCache } from '#store/bounded-cache.ts'
import { within } from '#time/deadline.ts'

/** Source of an answer: a read of the store, an equal call in progress, or the cache. */
export const ANSWER_SOURCES = ['store', 'joined', 'kept'] as const
export type AnswerSource = (typeof ANSWER_SOURCES)[number]

/**
 * Cache of answers that equal calls share while the content of the store is the same. Only answers of
 * completed reads are cached or shared: until its end a read may restart, or find that data is lost. The
 * oldest answer is evicted first.
 */
export type AnswerCache<A> = { begin(): AnswerLookup<A> }

/** The look-up of one call, which reads the store once. */
export type AnswerLookup<A> = {
  /**
   * The answer for a content of the store and a key, from the cache or from an equal call in progress;
   * undefined: this call must read it. `edition`: that of the view; undefined: the content cannot be
   * identified. `key`: a text of all other inputs of the answer. `signal` ends the wait for an equal call.
   */
  find(edition: object | undefined, key: string | undefined, signal?: AbortSignal | undefined): Promise<A | undefined>
  /** Stores and shares the answer of the completed read. */
  put(answer: A): void
  /** Must be called when the call is over. If it has no answer, calls that waited for it read the store themselves. */
  end(): void
}

export function createAnswerCache<A extends { readonly text: string }>({
  maxCharacters,
  onAnswer,
}: {
  readonly maxCharacters: number
  readonly onAnswer: (source: AnswerSource) => void
}): AnswerCache<A> {
  const kept = boundedCache<A>(maxCharacters)
  const running = new Map<string, Promise<A | undefined>>()
  const nameOf = editionNames()
  return {
    begin: () => {
      const done = Promise.withResolvers<A | undefined>()
      /**
       * The only name under which other calls may wait for this one. A call that waits has none, so two calls
       * never wait for each other.
       */
      let own: string | undefined
      let name: string | undefined
      let source: AnswerSource = 'store'
      const there = async (name: string, signal: AbortSignal | undefined): Promise<A | undefined> => {
        const known = kept.get(name)?.value
        if (known !== undefined) source = 'kept'
        if (known !== undefined || own !== undefined) return known
        const other = running.get(name)
        if (other === undefined) {
          own = name
          running.set(name, done.promise)
          return undefined
        }
        const answer = await within(other, { signal })
        if (answer !== undefined) source = 'joined'
        return answer
      }
      return {
        find: async (edition, key, signal) => {
          source = 'store'
          name = edition === undefined ? undefined : `${nameOf(edition)} ${key}`
          const answer = name === undefined ? undefined : await there(name, signal)
          if (answer !== undefined) name = undefined
          return answer
        },
        put: answer => {
          if (name !== undefined) kept.put(name, answer, name.length + answer.text.length)
          done.resolve(answer)
          onAnswer(source)
        },
        end: () => {
          done.resolve(undefined)
          if (own !== undefined) running.delete(own)
        },
      }
    },
  }
}

/** A short, unique name for each edition. */
function editionNames() {
  const names = new WeakMap<object, number>()
  let last = 0
  return (edition: object): number => {
    const name = names.get(edition) ?? ++last
    names.set(edition, name)
    return name
  }
}
