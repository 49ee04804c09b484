import type { Log } from '#failure/failure.ts'
import { createRates } from '#gate/rate.ts'
import { createApp } from '#http/app.ts'
import type { AppOptions } from '#http/app-options.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import type { Store, StoredKey } from '#store/port.ts'
import { patientClock } from '../clocks/patient-clock.ts'

type Line = {
  readonly level: Parameters<Log>[0]
  readonly message: string
  readonly fields: Readonly<Record<string, string | number>>
}

/** A service under test that answers requests without a socket. */
export type Service = {
  readonly app: ReturnType<typeof createApp>
  /** A key with a high rate limit. */
  readonly key: string
  /** Log lines, oldest first. */
  readonly lines: readonly Line[]
  /** A GET request unless `init` says otherwise. `path` begins with `/`. */
  ask(path: string, init?: RequestInit): Promise<Response>
  /** The same with the key, unless the headers have another one. */
  get(path: string, headers?: Readonly<Record<string, string>>, init?: RequestInit): Promise<Response>
}

/** More requests than any test makes in a second. */
const WIDE: Plan = { perSecond: 1_000_000, perDay: 1_000_000_000 }

/** Keys that the service accepts in addition to those of its store. */
const keyStoreWith = (...keys: readonly StoredKey[]): Store['keys'] => ({
  add: () => Promise.reject(new Error('Keys of tests are given, not added.')),
  list: async () => keys,
  salvage: async () => ({ keys, isWhole: true }),
  read: async () => ({ keys, isStart: true, isEnd: true, mark: undefined }),
  change: () => Promise.reject(new Error('Keys of tests are given, not changed.')),
  revoke: () => Promise.reject(new Error('Keys of tests are given, not revoked.')),
})

/** Builds the service on a store, with a key for the test. */
export function serviceOn(
  store: Store,
  over: Partial<AppOptions> & {
    readonly plan?: Plan
    readonly keys?: readonly StoredKey[]
    /** The clock stands still unless this is given. */
    readonly now?: () => number
  } = {},
): Service {
  const { plan = WIDE, keys = [], now, ...options } = over
  const clock = now === undefined ? patientClock : { ...patientClock, now, elapsed: now }
  const made = createKey('test', plan, { now: clock.now() })
  const lines: Line[] = []
  const app = createApp({
    store,
    node: undefined,
    keyring: keyring({ store: keyStoreWith(made.stored, ...keys), clock }),
    rates: createRates({ clock }),
    prices: { get: () => undefined },
    profiles: { get: () => undefined },
    defaults: { format: 'envelope', compat: 'none' },
    basePath: '',
    // On a busy machine too, an answer takes as long as it takes.
    deadlineMs: 600_000,
    maxInFlight: 64,
    maxExports: 8,
    maxFeeds: 1_000,
    maxFeedsPerKey: 1_000,
    stallMs: 30_000,
    clock,
    log: (level, message, fields = {}) => {
      lines.push({ level, message, fields })
    },
    version: '0.0.0-test',
    ...options,
  })
  const ask: Service['ask'] = async (path, init) => app.handle(new Request(`http://127.0.0.1:8080${path}`, init))
  return {
    app,
    key: made.key,
    lines,
    ask,
    get: (path, headers = {}, init = {}) => ask(path, { ...init, headers: { 'x-api-key': made.key, ...headers } }),
  }
}
