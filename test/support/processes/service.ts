import type { Log } from '#failure/failure.ts'
import { createAddressLimits } from '#gate/networks.ts'
import { createQueues } from '#gate/queues.ts'
import { createRates } from '#gate/rate.ts'
import { createApp } from '#http/app.ts'
import type { AppOptions } from '#http/app-options.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import type { Store, StoredKey } from '#store/port.ts'
import { patientClock } from '../clocks/patient-clock.ts'

export type Service = ReturnType<typeof serviceOn>

/** More requests than any test makes in a second. */
const WIDE: Plan = { perSecond: 1_000_000, perDay: 1_000_000_000 }

/** A keyring of the keys that a test names at any moment. */
export function testKeyring(
  keys: () => readonly StoredKey[],
  options: Pick<Parameters<typeof keyring>[0], 'clock' | 'testKey'>,
) {
  const read = async () => ({ keys: keys(), isStart: true, isEnd: true, mark: undefined })
  return keyring({ store: { read }, ...options })
}

/** Builds a service under test, which answers requests without a socket, on a store. */
export function serviceOn(
  store: Store,
  over: Partial<AppOptions & Parameters<typeof createQueues>[0]> & {
    readonly plan?: Plan
    readonly keys?: readonly StoredKey[]
    /** The clock stands still unless this is given. */
    readonly now?: () => number
  } = {},
) {
  const { plan = WIDE, keys = [], now, ...options } = over
  const clock = now === undefined ? patientClock : { ...patientClock, now, elapsed: now }
  const capacity = {
    maxInFlight: 64,
    maxExports: 8,
    maxFeeds: 1_000,
    maxFeedsPerKey: 1_000,
    // On a busy machine too, an answer takes as long as it takes.
    deadlineMs: 600_000,
    clock,
    ...options,
  }
  const made = createKey('test', plan, { now: clock.now() })
  const lines: { level: Parameters<Log>[0]; message: string; fields: Readonly<Record<string, string | number>> }[] = []
  const app = createApp({
    store,
    node: undefined,
    keyring: testKeyring(() => [made.stored, ...keys], { clock }),
    rates: createRates({ clock }),
    queues: createQueues(capacity),
    addresses: createAddressLimits(capacity.clock),
    prices: { get: () => undefined },
    profiles: { get: () => undefined },
    defaults: { format: 'envelope', compat: 'none' },
    basePath: '',
    stallMs: 30_000,
    log: (level, message, fields = {}) => {
      lines.push({ level, message, fields })
    },
    version: '0.0.0-test',
    ...capacity,
  })
  /** A GET request unless `init` says otherwise. `path` begins with `/`. */
  const ask = async (path: string, init?: RequestInit): Promise<Response> =>
    app.handle(new Request(`http://127.0.0.1:8080${path}`, init))
  return {
    app,
    key: made.key,
    lines: lines as Readonly<typeof lines>,
    ask,
    /** The same with the key, unless the headers have another one. */
    get: (path: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}) =>
      ask(path, { ...init, headers: { 'x-api-key': made.key, ...headers } }),
  }
}
