import { join } from 'node:path'
import { type Asked, type Fate, openProxy, pass } from '../support/nodes/faulty-proxy.ts'
import { type Harm, harmElastic, harmSqlite } from '../support/stores/damage.ts'
import { openTestElastic } from '../support/stores/elasticsearch.ts'

type Gate = Awaited<ReturnType<typeof openGate>>

/** A proxy between a process and its server. All requests pass until `decide` is called. */
export async function openGate(target: string) {
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
    /** Sets the function that decides the fate of every further request. */
    decide: (next: typeof fateOf): void => {
      fateOf = next
    },
    /** Passes all further requests, and releases the held ones. */
    passAll: (): void => {
      fateOf = () => pass
      release()
    },
    release,
    hold: (): Fate => ({ type: 'hold', until: held.promise }),
    after: (requests: number) => new Promise<void>(done => waiting.push({ left: requests, done })),
    close: proxy.close,
  }
}

/** Loses, holds (until the next disturbed request) and refuses a share of `rate` of the requests. */
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

export type SoakPlace = {
  readonly name: 'sqlite' | 'elasticsearch'
  /** Values of `--store` for the loader, for services, and for manually run commands. */
  readonly store: { readonly loader: string; readonly service: string; readonly commands: string }
  readonly harm: Harm
  readonly gates?: { readonly loader: Gate; readonly service: Gate }
  readonly path?: string
  /** URL and prefix of the indices of an Elasticsearch store. */
  readonly server?: string
  close(): Promise<void>
}

export function sqlitePlace(folder: string): SoakPlace {
  const path = join(folder, 'soak.sqlite')
  const at = `sqlite:${path}`
  const store = { loader: at, service: at, commands: at }
  return { name: 'sqlite', store, harm: harmSqlite(path), path, close: async () => {} }
}

export async function elasticPlace(url: string): Promise<SoakPlace> {
  const target = openTestElastic({ url, prefix: `test-soak-${crypto.randomUUID().slice(0, 8)}` })
  const gates = { loader: await openGate(url), service: await openGate(url) }
  const toStore = (at: string): string => `${at}/${target.prefix}`
  return {
    name: 'elasticsearch',
    store: { loader: toStore(gates.loader.url), service: toStore(gates.service.url), commands: toStore(url) },
    harm: harmElastic(target),
    gates,
    server: toStore(url),
    close: async () => {
      await gates.loader.close()
      await gates.service.close()
      await target.destroy()
    },
  }
}
