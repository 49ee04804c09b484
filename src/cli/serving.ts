import { join } from 'node:path'
import { Failure } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import { createApp } from '#http/app.ts'
import { keyring } from '#keys/keyring.ts'
import { watchLateness } from '#keys/lateness.ts'
import { TEST_PLAN } from '#keys/plan.ts'
import { createRates } from '#keys/rate.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { openUsage } from '#store/sqlite/usage.ts'
import { systemClock } from '#time/clock.ts'
import { keepCounts } from './keep-counts.ts'
import { parsePrices } from './prices.ts'
import { parseProfiles } from './profiles.ts'
import type { Address } from './readers.ts'
import type { Values } from './settings.ts'
import { watchStore } from './watch-store.ts'
import { watch } from './watched.ts'

/** Requests under way at the stop get this long to end. */
const DRAIN_MS = 5_000

export type Serving = {
  /** Base URL with the port that was really taken. */
  readonly url: string
  /** Accepts no more requests, lets running ones end, and frees the port. */
  stop(): Promise<void>
}

/** Serves the API; throws 'usage' when the address is not available. */
export const startServing = async (parts: {
  readonly values: Values
  readonly version: string
  readonly store: Store
  readonly node: Node | undefined
  readonly log: Log
}): Promise<Serving> => {
  const { values, version, store, node, log } = parts
  const testKey = values['test-key'] === 'off' ? undefined : values['test-key']
  const prices =
    values.prices === undefined
      ? undefined
      : await watch({ source: values.prices, what: 'Prices', parse: parsePrices, log, clock: systemClock })
  const profiles =
    values.profiles === undefined
      ? undefined
      : await watch({
          source: { path: values.profiles },
          what: 'Profiles',
          parse: parseProfiles,
          log,
          clock: systemClock,
        })
  const lateness = watchLateness()
  const rates = createRates({ now: systemClock.now, lateMs: lateness.ms })
  const app = createApp({
    store,
    node,
    keyring: keyring({
      store: store.keys,
      clock: systemClock,
      ...(testKey === undefined ? {} : { testKey: { key: testKey, plan: TEST_PLAN } }),
    }),
    rates,
    prices: { get: () => prices?.get() },
    profiles: { get: producer => profiles?.get()?.get(producer) },
    defaults: { format: values.format, compat: values.compat },
    deadlineMs: values.deadline,
    maxInFlight: values['max-in-flight'],
    clock: systemClock,
    log,
    version,
    ...(testKey === undefined ? {} : { testKey }),
  })
  const { host, port } = values.listen
  const server = listening(values.listen, () => {
    // Elysia would share the port with any other process of ours.
    app.listen({ hostname: host, port, reusePort: false })
    return app.server
  })
  const file = join(values.data, 'usage.sqlite')
  const watching = watchStore(store, systemClock, log)
  const counting = keepCounts(rates, { file, open: () => openUsage(file), clock: systemClock }, log)
  return {
    url: urlOf(host, server.port ?? port),
    stop: async () => {
      watching.stop()
      prices?.close()
      profiles?.close()
      lateness.stop()
      await Promise.race([server.stop(), Bun.sleep(DRAIN_MS)])
      await server.stop(true)
      counting.stop()
    },
  }
}

/** Runs `listen`; an address that is in use or not this machine's becomes a 'usage' Failure. */
const listening = <T>(address: Address, listen: () => T | null | undefined): T => {
  const name = urlOf(address.host, address.port).slice('http://'.length)
  try {
    const server = listen()
    if (server !== null && server !== undefined) return server
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (code === 'EADDRINUSE')
      throw new Failure('usage', `Address ${name} is in use by another program.`, {
        help: 'Stop that program, or choose another address with --listen HOST:PORT (port 0 picks a free port).',
        cause,
      })
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Failure('usage', `Cannot listen on ${name}: ${reason}.`, {
      help: 'Choose another address with --listen HOST:PORT.',
      cause,
    })
  }
  throw new Failure('defect', `Listening on ${name} returned no server.`)
}

const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
