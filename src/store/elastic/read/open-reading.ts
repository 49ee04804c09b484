import { Failure } from '#failure/failure.ts'
import { underRepair } from '#store/mending.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Store, View } from '#store/port.ts'
import type { Hints } from '#store/ranking-start.ts'
import type { HoldOptions } from '#store/read-port.ts'
import { wholeness } from '#store/wholeness.ts'
import { readCheckpoint, readPublished } from '../schema/checkpoint.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { lastDocuments } from '../schema/last-documents.ts'
import { lostToReaders } from '../schema/lost-indices.ts'
import { FIRST_PARTITION } from '../schema/partitions.ts'
import { consistentReads } from './consistent-read.ts'
import { holdView } from './hold-view.ts'
import { OutOfDate } from './out-of-date.ts'
import { readableFrom, removedMeanwhile } from './published-height.ts'
import { rememberNothing, rememberState } from './state-cache.ts'
import { untilAborted } from './until-aborted.ts'
import { openView } from './view.ts'

/** A read without a deadline of its own is tried again for so long. */
const PATIENCE_MS = 10_000

/** A view, the published record it was opened at, and whether it found nothing where a lost document may have been. */
type Opened = {
  readonly at: View['at']
  readonly view: View
  /** Reads what is there, as damaged or out of date as it may be. */
  readonly unproved: () => View
  readonly published: PublishedMeta
  foundNothing: boolean
}

export type Reading = ReturnType<typeof openReading>

/** Reads of one store: the published height, answers at one height, and refusals while data is lost. */
export const openReading = (cluster: Cluster) => {
  const { clock } = cluster
  const store = `${cluster.connection.url}/${cluster.names.prefix}`
  const look = readableFrom(signal => readPublished(cluster, signal))
  const published = () => look(undefined)
  const state = rememberState(clock.now, cluster.onCacheLook)
  const open = viewOpener(cluster, state)
  let isRepairing = false
  const { read, lookAgain, fresh } = consistentReads({
    readPublished: look,
    viewOf: open,
    sleep: clock.sleep,
    now: clock.now,
    patienceMs: PATIENCE_MS,
    require: ({ mending }) => {
      if (mending && !isRepairing) throw underRepair(store)
    },
    nothing: () => nothingLoaded(store),
  })
  const whole = wholeness({ look: () => lostToReaders(cluster, published), now: clock.now })
  const requireWhole = (signal?: AbortSignal): Promise<void> =>
    untilAborted(signal, whole.require(), 'the store was checked')
  /** Settles as the work does, unless the work found nothing and the store turns out to have lost data. */
  const unlessLost = async <T>(opened: Opened, work: Promise<T>, signal?: AbortSignal): Promise<T> => {
    const [done] = await Promise.allSettled([work])
    const isNotFound =
      done.status === 'rejected' && done.reason instanceof Failure && done.reason.kind === 'not_found'
    if (isNotFound || opened.foundNothing)
      await untilAborted(signal, whole.requireNow(), 'the store was looked at')
    return work
  }
  /** No copy was whole: servers are cut off, unless the store turns out to have lost data. */
  const namedLoss = async (error: unknown, signal?: AbortSignal): Promise<unknown> => {
    if (error instanceof OutOfDate) await untilAborted(signal, whole.requireNow(), 'the store was looked at')
    return error
  }
  const readOne: Store['read'] = async (work, { signal, damaged } = {}) => {
    if (damaged !== true) await requireWhole(signal)
    return read(opened => {
      const view = damaged === true ? opened.unproved() : opened.view
      const done = removedMeanwhile(work(view), opened.published, published)
      return damaged === true ? done : unlessLost(opened, done, signal)
    }, signal).catch(async (error: unknown) => {
      throw await namedLoss(error, signal)
    })
  }
  return {
    source: {
      published: async () => (await published())?.end,
      identity: () => identityOf(cluster),
      read: readOne,
      hold: async ({ state: indices, signal }: HoldOptions) => {
        await requireWhole(signal)
        return holdView(cluster, {
          indices,
          signal,
          patienceMs: PATIENCE_MS,
          published: () => fresh(signal),
          viewOf: at => open(at, signal).view,
        })
      },
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

const viewOpener = (cluster: Cluster, state: ReturnType<typeof rememberState>) => {
  const hints: Hints = new Map()
  return (published: PublishedMeta, signal: AbortSignal | undefined): Opened => {
    const reader = {
      connection: cluster.connection,
      names: cluster.names.at(published.generations),
      published,
      hints,
      signal,
      onNothing: () => {
        opened.foundNothing = true
      },
    }
    const opened: Opened = {
      at: published.end,
      view: openView({ ...reader, last: lastDocuments(published), remembered: state.of(published) }),
      unproved: () => openView({ ...reader, last: {}, remembered: rememberNothing() }),
      published,
      foundNothing: false,
    }
    return opened
  }
}

const identityOf: (cluster: Cluster) => ReturnType<Store['identity']> = async cluster => {
  const stored = await readCheckpoint(cluster)
  if (stored === undefined) return undefined
  const { chainId, genesis, derivation } = stored.checkpoint
  return { chainId, genesis, derivation }
}
