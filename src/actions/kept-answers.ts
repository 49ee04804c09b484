import { boundedCache } from '#store/bounded-cache.ts'

/** Where an answer comes from: the store was read for it, an equal call under way was, or it was kept. */
export const ANSWER_SOURCES = ['store', 'joined', 'kept'] as const
export type AnswerSource = (typeof ANSWER_SOURCES)[number]

/** What a call would read: of what (`View.edition`; undefined: nothing is known of it), and, as a text, all else that its answer depends on. */
type Place = { readonly edition: object | undefined; readonly key: () => string }

/** Gives the answer of a place: one that is there already, or what `run` reads. */
export type Share<A> = (place: Place, run: () => Promise<A>) => Promise<A>

export type KeptAnswers<A> = {
  /** Answers a call by `read`, which reads the store and shares what it reads there. */
  answer(read: (share: Share<A>) => Promise<A>): Promise<A>
}

/**
 * Answers that equal calls share while the store shows the same. What is kept or joined is what a read of the store has
 * ended with: until its end a read may still begin again, or find that data is lost. The oldest answer is dropped first.
 */
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
    answer: async read => {
      const done = Promise.withResolvers<A | undefined>()
      /** The one place for whose answer others may wait: who waits has none, so nobody waits for each other. */
      let own: string | undefined
      let found: { readonly source: AnswerSource; readonly name?: string | undefined } = { source: 'store' }
      /** The answer of a place that is kept, or that another call comes to; undefined: this call reads it. */
      const there = async (name: string) => {
        const known = kept.get(name)
        if (known !== undefined) return { source: 'kept', answer: known.value } as const
        if (own !== undefined) return undefined
        const other = running.get(name)
        if (other === undefined) {
          own = name
          running.set(name, done.promise)
          return undefined
        }
        const answer = await other
        return answer === undefined ? undefined : ({ source: 'joined', answer } as const)
      }
      const share: Share<A> = async ({ edition, key }, run) => {
        const name = edition === undefined ? undefined : `${nameOf(edition)} ${key()}`
        const got = name === undefined ? undefined : await there(name)
        found = got ?? { source: 'store', name }
        return got?.answer ?? run()
      }
      try {
        const answer = await read(share)
        if (found.name !== undefined) kept.put(found.name, answer, found.name.length + answer.text.length)
        done.resolve(answer)
        onAnswer(found.source)
        return answer
      } finally {
        // Whoever waits for an answer that failed asks the store itself.
        done.resolve(undefined)
        if (own !== undefined) running.delete(own)
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
