import { join } from 'node:path'
import { type Asked, type Fate, openProxy, pass } from '../support/nodes/faulty-proxy.ts'
import { openTestElastic } from '../support/stores/elasticsearch.ts'

/** A proxy between a process and its server. All requests pass until `decide` is called. */
export type Gate = {
  readonly url: string
  /** Sets the function that decides the fate of every further request. */
  decide(fateOf: (asked: Asked) => Fate): void
  /** Passes all further requests, and releases the held ones. */
  passAll(): void
  /** Releases the held requests. */
  release(): void
  /** Holds a request until `release` or `passAll`. */
  hold(): Fate
  /** Resolves after this many more requests. */
  after(requests: number): Promise<void>
  close(): Promise<void>
}

export async function openGate(target: string): Promise<Gate> {
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

/**
 * Loses requests and answers, holds some until the next disturbed request, and refuses some: a share of `rate` in all.
 */
export const troubled =
  (gate: Gate, random: () => number, rate: number): (() => Fate) =>
  () => {
    if (random() >= rate) return pass
    const kind = Math.floor(random() * 5)
    gate.release()
    if (kind === 0) return { type: 'cut-before' }
    if (kind === 1) return { type: 'cut-after' }
    if (kind === 2) return { type: 'answer', with: { status: 503, body: '{"error":"busy","status":503}' } }
    if (kind === 3) return { type: 'answer', with: { status: 429, body: '{"error":"too many","status":429}' } }
    return gate.hold()
  }

/** A store for the soak, with its addresses for the processes. */
export type SoakPlace = {
  readonly name: 'sqlite' | 'elasticsearch'
  /** Values of `--store` for the loader, for services, and for manually run commands. */
  readonly store: { readonly loader: string; readonly service: string; readonly commands: string }
  /** Proxies in front of the server, for a store with a server. */
  readonly gates?: { readonly loader: Gate; readonly service: Gate }
  /** The file of a SQLite store. */
  readonly path?: string
  /** Server and prefix of an Elasticsearch store. */
  readonly server?: { readonly url: string; readonly prefix: string }
  close(): Promise<void>
}

export function sqlitePlace(folder: string): SoakPlace {
  const path = join(folder, 'soak.sqlite')
  const store = `sqlite:${path}`
  return { name: 'sqlite', store: { loader: store, service: store, commands: store }, path, close: async () => {} }
}

export async function elasticPlace(url: string): Promise<SoakPlace> {
  const { prefix, destroy } = openTestElastic({ url, prefix: `test-soak-${crypto.randomUUID().slice(0, 8)}` })
  const gates = { loader: await openGate(url), service: await openGate(url) }
  return {
    name: 'elasticsearch',
    store: {
      loader: `${gates.loader.url}/${prefix}`,
      service: `${gates.service.url}/${prefix}`,
      commands: `${url}/${prefix}`,
    },
    gates,
    server: { url, prefix },
    close: async () => {
      await gates.loader.close()
      await gates.service.close()
      await destroy()
    },
  }
}
