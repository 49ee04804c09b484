import type { Truth } from '../generator/truth.ts'
import type { Causes, Journal } from './causes.ts'
import type { Question } from './questions.ts'

type ReadersParts = {
  readonly name: string
  readonly journal: Journal
  readonly causes: Causes
  readonly draw: () => Question
  readonly services: () => readonly string[]
  readonly key: () => string
  /** The chain's last height. A higher height in an answer is wrong. */
  readonly end: () => number
  readonly truthAt: (height: number) => Truth
  readonly logged: () => string
}

/** Pause of a reader between two requests, for the other processes. No check depends on it. */
const BREATH_MS = 20
const HANG_MS = 120_000

type Answered = { readonly status: number; readonly height: number; readonly text: string }

async function ask(url: string, key: string): Promise<Answered> {
  try {
    const answer = await fetch(url, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.timeout(HANG_MS),
      keepalive: false,
    })
    const height = Number(answer.headers.get('x-block-height') ?? -1)
    return { status: answer.status, height, text: await answer.text() }
  } catch (error) {
    return { status: 0, height: -1, text: String(error) }
  }
}

/** Checks every answer by the truth at its height, and every refusal by the causes in force. */
export function startReaders(parts: ReadersParts) {
  const { name, journal, causes } = parts
  const floors = new Map<string, number>()
  /** `back`: number of times heights were allowed to decrease. `forth`: number of times that ended. */
  let [stopping, back, forth, asked] = [false, 0, 0, 0]
  let held: Promise<void> | undefined
  let busy: Promise<unknown> = Promise.resolve()
  let awaited: {
    readonly from: number
    readonly fits: (answer: Answered) => boolean
    readonly done: () => void
  }[] = []
  const judge = (question: Question, { height, text }: Answered, floor: number): string | undefined => {
    if (!Number.isInteger(height) || height < 0) return `no height: ${text.slice(0, 200)}`
    if (height > parts.end()) return `height ${height}, the chain ends at ${parts.end()}`
    if (height < floor) return `height ${height} after ${floor}`
    const { data } = JSON.parse(text) as { data: unknown }
    return question.judge(data, parts.truthAt(height))
  }
  const refused = ({ status, text }: Answered, mark: number, query: string): void => {
    const cause = causes.since(mark).find(({ statuses }) => statuses.includes(status))
    journal.count(`${name}: refused ${status} ${cause === undefined ? 'unexplained' : `(${cause.name})`}`)
    if (cause === undefined)
      journal.wrong(`${name}: ${query}: ${status} ${text.slice(0, 300)}; logged: ${parts.logged()}`)
  }
  const askOnce = async (): Promise<void> => {
    const urls = parts.services()
    const url = urls[asked % Math.max(1, urls.length)]
    const number = asked++
    if (url === undefined) return
    const question = parts.draw()
    const [mark, floor, times] = [causes.mark(), floors.get(url) ?? -1, back]
    const isFree = (): boolean => times !== back || back !== forth
    const answer = await ask(`${url}/api/?${question.query}`, parts.key())
    const seen = awaited.filter(({ from, fits }) => number >= from && fits(answer))
    awaited = awaited.filter(one => !seen.includes(one))
    for (const { done } of seen) done()
    if (answer.status !== 200) return refused(answer, mark, question.query)
    const problem = judge(question, answer, isFree() ? -1 : floor)
    journal.count(`${name}: answers compared`)
    if (problem !== undefined) {
      journal.count(`${name}: answers wrong`)
      const doing = causes.since(mark).map(cause => cause.name)
      journal.wrong(`${name}: ${question.query} at height ${answer.height}: ${problem}; meanwhile: ${doing}`)
    }
    if (!isFree()) floors.set(url, Math.max(floor, answer.height))
  }
  const run = async (): Promise<void> => {
    while (!stopping) {
      await held
      busy = askOnce()
      await busy
      await Bun.sleep(BREATH_MS)
    }
  }
  const running = run()
  return {
    /** Resolves with the first matching answer to a request that is sent after this call. */
    sees: (fits: (answer: Answered) => boolean) => new Promise<void>(done => awaited.push({ from: asked, fits, done })),
    /** The stored height may decrease until the returned function is called. */
    mayGoBack: () => {
      back++
      floors.clear()
      return () => {
        // Requests that began before this may be of a lower height, too.
        back++
        forth += 2
      }
    },
    pause: async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      await busy
      return () => {
        held = undefined
        resolve()
      }
    },
    stop: async () => {
      stopping = true
      await running
    },
  }
}
