import { type Asked, type Fate, openProxy, pass } from '../support/nodes/faulty-proxy.ts'

/** A server between a process and what it asks; all pass until it is told otherwise. */
export type Gate = {
  readonly url: string
  /** Decides about every request from now on. */
  decide(fateOf: (asked: Asked) => Fate): void
  /** Everything passes, also what is held. */
  passAll(): void
  /** Lets go on what is held. */
  release(): void
  /** Holds a request until `release` or `passAll`. */
  hold(): Fate
  /** Resolves when so many more requests have come. */
  after(requests: number): Promise<void>
  close(): Promise<void>
}

export const openGate = async (target: () => string): Promise<Gate> => {
  let fateOf: (asked: Asked) => Fate = () => pass
  let held = Promise.withResolvers<void>()
  let waiting: { left: number; readonly done: () => void }[] = []
  const release = (): void => {
    held.resolve()
    held = Promise.withResolvers<void>()
  }
  const proxy = await openProxy(
    target,
    asked => {
      for (const one of waiting) one.left -= 1
      for (const { done } of waiting.filter(({ left }) => left <= 0)) done()
      waiting = waiting.filter(({ left }) => left > 0)
      return fateOf(asked)
    },
    { remember: false },
  )
  return {
    url: proxy.url,
    decide: next => {
      fateOf = next
    },
    passAll: () => {
      fateOf = () => pass
      release()
    },
    release,
    hold: () => ({ type: 'hold', until: held.promise }),
    after: requests => new Promise(done => waiting.push({ left: requests, done })),
    close: proxy.close,
  }
}

/** Loses requests and answers, holds some until the next one, and refuses some: a share of `rate` in all. */
export const troubled =
  (gate: Gate, random: () => number, rate: number): (() => Fate) =>
  () => {
    if (random() >= rate) return pass
    const kind = Math.floor(random() * 5)
    gate.release()
    if (kind === 0) return { type: 'cut-before' }
    if (kind === 1) return { type: 'cut-after' }
    if (kind === 2) return { type: 'answer', with: { status: 503, body: '{"error":"busy","status":503}' } }
    if (kind === 3)
      return { type: 'answer', with: { status: 429, body: '{"error":"too many","status":429}' } }
    return gate.hold()
  }
