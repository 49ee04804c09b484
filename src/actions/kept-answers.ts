import { boundedCache } from '#store/bounded-cache.ts'

/** Where an answer comes from: the store was read for it, an equal call under way was, or it was kept. */
export const ANSWER_SOURCES = ['store', 'joined', 'kept'] as const
export type AnswerSource = (typeof ANSWER_SOURCES)[number]

/**
 * Answers that equal calls share while the store shows the same. What is kept or joined is what a read of the store has
 * ended with: until its end a read may still begin again, or find that data is lost. The oldest answer is dropped first.
 */
export type KeptAnswers<A> = { begin(): Lookup<A> }

/** The answer of one call, which reads the store once. */
export type Lookup<A> = {
  /**
   * The answer that is there for what the store shows (`edition` of the view; undefined: nothing is known of it) and a text
   * of all else that it depends on, kept or about to come to an equal call; undefined: this call has to read it.
   */
  find(edition: object | undefined, key: string | undefined): Promise<A | undefined>
  /** The read has ended with this answer. */
  put(answer: A): void
  /** Must be called when the call is over. Calls that waited for an answer that failed read the store themselves. */
  end(): void
}

export const keptAnswers = <A extends { readonly text: string }>({
  maxCharacters,
  onAnswer,
}: {
  readonly maxCharacters: number
  readonly onAnswer: (source: AnswerSource) => void
}): KeptAnswers<A> => {
  const kept = boundedCache<A>(maxCharacters)
  const running = new Map<string, Promise<A | undefined>>()
  const nameOf = editionNames()
  return {
    begin: () => {
      const done = Promise.withResolvers<A | undefined>()
      /** The one name under which others may wait for this call: a call that waits has none, so no two wait for each other. */
      let own: string | undefined
      let name: string | undefined
      let source: AnswerSource = 'store'
      const there = async (name: string): Promise<A | undefined> => {
        const known = kept.get(name)?.value
        if (known !== undefined) source = 'kept'
        if (known !== undefined || own !== undefined) return known
        const other = running.get(name)
        if (other === undefined) {
          own = name
          running.set(name, done.promise)
          return undefined
        }
        const answer = await other
        if (answer !== undefined) source = 'joined'
        return answer
      }
      return {
        find: async (edition, key) => {
          source = 'store'
          name = edition === undefined ? undefined : `${nameOf(edition)} ${key}`
          const answer = name === undefined ? undefined : await there(name)
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

/** A short name for each edition, never given twice. */
const editionNames = () => {
  const names = new WeakMap<object, number>()
  let last = 0
  return (edition: object): number => {
    const name = names.get(edition) ?? ++last
    names.set(edition, name)
    return name
  }
}
