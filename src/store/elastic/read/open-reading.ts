import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Store } from '#store/port.ts'
import type { HeldView, HoldOptions } from '#store/read-port.ts'
import { underRepair } from '#store/repair-failures.ts'
import { wholeness } from '#store/wholeness.ts'
import { readCheckpoint, readPublished } from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/cluster.ts'
import { lostToReaders } from '../schema/lost-indices.ts'
import { FIRST_PARTITION } from '../schema/partitions.ts'
import { consistentReads, untilAborted } from './consistent-read.ts'
import { holdView } from './hold-view.ts'
import { readOwnEdition } from './known-height.ts'
import { viewsOf } from './open-views.ts'

/** Time that a read without its own deadline is retried, milliseconds. */
const TIMEOUT_MS = 10_000

export type Reading = ReturnType<typeof openReading>

/**
 * Reads of one store: the published height, answers at one height, and refusals while data is lost. `ofAnyVersion`: also
 * indices of another version, for a migration.
 */
export const openReading = (cluster: Cluster, { ofAnyVersion = false } = {}) => {
  const { clock } = cluster
  const store = `${cluster.connection.url}/${cluster.names.prefix}`
  const anyPublished = (signal?: AbortSignal) => readPublished(cluster, signal)
  const readable = ofAnyVersion ? anyPublished : readOwnEdition(anyPublished, store)
  const published = () => readable(undefined)
  const { open, forget } = viewsOf({ ...cluster, hold: options => hold(options) })
  const whole = wholeness({ check: () => lostToReaders(cluster, published), now: clock.now })
  const { read, expire, fresh, readUnrepaired } = consistentReads({
    ...{ readPublished: readable, open, whole, onRead: cluster.onRead },
    sleep: clock.sleep,
    now: clock.now,
    timeoutMs: TIMEOUT_MS,
    nothing: () => nothingLoaded(store),
    underRepair: () => underRepair(store),
  })
  const requireWhole = async (signal?: AbortSignal): Promise<void> => {
    await untilAborted(whole.require() ?? Promise.resolve(), signal, 'the store was checked')
  }
  const hold = async ({ state: indices, signal }: HoldOptions): Promise<HeldView> => {
    await requireWhole(signal)
    return holdView(cluster, {
      indices,
      signal,
      timeoutMs: TIMEOUT_MS,
      published: () => fresh(signal),
      viewOf: at => open(at, { signal }).view,
    })
  }
  return {
    source: {
      published: async () => (await published())?.end,
      identity: () => identityOf(cluster),
      read,
      hold,
    },
    partitions: async () => (await published())?.partitions ?? FIRST_PARTITION,
    whole: requireWhole,
    /** Called when this process has published a height: the next read requests it. */
    expire: (): void => {
      forget()
      expire()
    },
    /** Called when indices were created or repaired: the next read checks them again. */
    checkAgain: whole.expire,
    /** From now on this process also reads the state of an unfinished repair. */
    beginRepair: readUnrepaired,
  }
}

const identityOf: (cluster: Cluster) => ReturnType<Store['identity']> = async cluster => {
  const stored = await readCheckpoint(cluster)
  if (stored === undefined) return undefined
  const { chainId, genesis, derivation } = stored.checkpoint
  return { chainId, genesis, derivation }
}
