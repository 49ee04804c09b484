import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Store } from '#store/port.ts'
import type { Hints } from '#store/ranking-start.ts'
import type { HoldOptions } from '#store/read-port.ts'
import { underRepair } from '#store/repair-failures.ts'
import { wholeness } from '#store/wholeness.ts'
import { readCheckpoint, readPublished } from '../schema/checkpoint.ts'
import { type LastDocuments, lastDocuments, type PublishedMeta } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { lostToReaders } from '../schema/lost-indices.ts'
import type { Names } from '../schema/names.ts'
import { FIRST_PARTITION } from '../schema/partitions.ts'
import { consistentReads, type Opened, type OpenOptions } from './consistent-read.ts'
import { holdView } from './hold-view.ts'
import { readableFrom } from './known-height.ts'
import { rememberNothing, rememberState } from './state-cache.ts'
import { untilAborted } from './until-aborted.ts'
import { openView } from './view.ts'

/** A read without a deadline of its own is tried again for this time. */
const TIMEOUT_MS = 10_000

export type Reading = ReturnType<typeof openReading>

/** Reads of one store: the published height, answers at one height, and refusals while data is lost. */
export const openReading = (cluster: Cluster) => {
  const { clock } = cluster
  const store = `${cluster.connection.url}/${cluster.names.prefix}`
  const readPublishedMeta = readableFrom(signal => readPublished(cluster, signal))
  const published = () => readPublishedMeta(undefined)
  const state = rememberState(clock.now, cluster.onCacheLook)
  const open = viewOpener(cluster, state)
  const whole = wholeness({ look: () => lostToReaders(cluster, published), now: clock.now })
  let isRepairing = false
  const { read, lookAgain, fresh } = consistentReads({
    readPublished: readPublishedMeta,
    open,
    whole,
    sleep: clock.sleep,
    now: clock.now,
    timeoutMs: TIMEOUT_MS,
    require: ({ mending }) => {
      if (mending && !isRepairing) throw underRepair(store)
    },
    nothing: () => nothingLoaded(store),
  })
  const requireWhole = async (signal?: AbortSignal): Promise<void> => {
    await untilAborted(whole.require() ?? Promise.resolve(), signal, 'the store was checked')
  }
  const hold = async ({ state: indices, signal }: HoldOptions) => {
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
    /** The published height was written by this process: the next read asks for it. */
    lookAgain: (): void => {
      state.forget()
      lookAgain()
    },
    /** Indices were created or repaired: the next read checks them again. */
    checkAgain: whole.lookAgain,
    /** From here on this process also reads what a repair has not finished. */
    beginRepair: (): void => {
      isRepairing = true
    },
  }
}

const viewOpener = ({ connection, names }: Cluster, state: ReturnType<typeof rememberState>) => {
  const hints: Hints = new Map()
  let known: { readonly of: PublishedMeta; readonly names: Names; readonly last: LastDocuments } | undefined
  return (published: PublishedMeta, { signal, damaged = false }: OpenOptions): Opened => {
    if (known?.of !== published)
      known = { of: published, names: names.at(published.generations), last: lastDocuments(published) }
    const opened = { foundNothing: false }
    const view = openView({
      connection,
      names: known.names,
      published,
      hints,
      asked: [],
      signal,
      last: damaged ? {} : known.last,
      remembered: damaged ? rememberNothing() : state.of(published),
      onNothing: () => {
        opened.foundNothing = true
      },
    })
    return Object.assign(opened, { view })
  }
}

const identityOf: (cluster: Cluster) => ReturnType<Store['identity']> = async cluster => {
  const stored = await readCheckpoint(cluster)
  if (stored === undefined) return undefined
  const { chainId, genesis, derivation } = stored.checkpoint
  return { chainId, genesis, derivation }
}
