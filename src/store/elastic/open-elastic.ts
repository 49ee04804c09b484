import { Failure } from '#failure/failure.ts'
import { underRepair } from '#store/mending.ts'
import type { Migrating } from '#store/migrating-port.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Store, View, Writer } from '#store/port.ts'
import type { Hints } from '#store/ranking-start.ts'
import { wholeness } from '#store/wholeness.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import { closingClock } from './client/closing-clock.ts'
import { type ConnectionOptions, connect } from './client/connection.ts'
import type { WriteEvent } from './client/sender.ts'
import { migratingOf } from './migrate/migration.ts'
import { openAudit } from './read/audit.ts'
import { openSessions, untilAborted } from './read/consistent-read.ts'
import { readableFrom, removedMeanwhile } from './read/published-height.ts'
import { rememberState } from './read/state-cache.ts'
import { openView } from './read/view.ts'
import { type PublishedMeta, readCheckpoint, readPublished } from './schema/checkpoint.ts'
import { at, type Cluster } from './schema/cluster.ts'
import { checkIndices, createIndices, refuseDifferent, refuseLost } from './schema/create-indices.ts'
import { lostOf, lostToReaders } from './schema/lost-indices.ts'
import { type Generations, namesOf } from './schema/names.ts'
import { FIRST_PARTITION } from './schema/partitions.ts'
import { requireNothing } from './schema/require-empty.ts'
import { onceStarted, untilStarted } from './schema/wait-for-shards.ts'
import { openKeys } from './write/keys.ts'
import { mergeFinished } from './write/merge.ts'
import { restoreRecord } from './write/restore.ts'
import { tellingWriter } from './write/telling-writer.ts'
import { openWriter } from './write/writer.ts'

export type ElasticOptions = ConnectionOptions & {
  /** What the names of all indices begin with, `PREFIX-…`. */
  readonly prefix: string
  /** Copies of each index besides the first, set when it is created. Default 0. */
  readonly replicas?: number
  /** History documents after which a new partition is opened. Default 100,000,000. */
  readonly partitionDocuments?: number
  /** A loader without a sign of life for so long is taken for dead, milliseconds. Default 15,000. */
  readonly leaseMs?: number
  /** Longest answer to a write, milliseconds. Default 120,000. */
  readonly writeTimeoutMs?: number
  /** How long a write is tried again before the loader gives up, milliseconds. Default 300,000. */
  readonly patienceMs?: number
  /** Told when Elasticsearch takes no writes or is overloaded. */
  readonly onEvent?: (event: WriteEvent) => void
  /** Generations that a migration builds; nobody is served from them. Absent: what is served. */
  readonly building?: Generations
  /** Time and chance, for tests. */
  readonly clock?: Partial<Clock>
}

/** A shard may hold 2^31 documents; merging, moving and restoring it are best done with a twentieth of that. */
export const PARTITION_DOCUMENTS = 100_000_000
const LEASE_MS = 15_000
/** The list of keys has a way of its own: answers that hang must not keep it from being read. */
const KEY_SOCKETS = 8
const WRITE_TIMEOUT_MS = 120_000
const PATIENCE_MS = 300_000
/** What is under way when the store is closed gets this long to end; every write can be cut off anywhere. */
const CLOSE_MS = 2_000
/** A read without a deadline of its own is tried again for so long. */
const READ_PATIENCE_MS = 10_000

/**
 * Documents in Elasticsearch (8.19 or 9). Nothing is sent before the first call. Every call's failures name the
 * server, the index and what helps, never a password or key.
 */
export const openElastic = (options: ElasticOptions): Store => {
  const connection = connect(options)
  const keysConnection = connect({ ...options, maxSockets: KEY_SOCKETS })
  const names = namesOf(options.prefix, options.building)
  const closing = new AbortController()
  const clock: Clock = { ...closingClock(closing.signal), ...options.clock }
  const cluster: Cluster = {
    connection,
    names,
    clock,
    replicas: options.replicas ?? 0,
    leaseMs: options.leaseMs ?? LEASE_MS,
    writeTimeoutMs: options.writeTimeoutMs ?? WRITE_TIMEOUT_MS,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    onEvent: options.onEvent ?? (() => {}),
  }
  const hints: Hints = new Map()
  const metas = new WeakMap<View, PublishedMeta>()
  /** Views that found nothing where a lost document may have been. */
  const emptyHanded = new WeakSet<View>()
  const look = readableFrom(signal => readPublished(cluster, signal))
  const published = () => look(undefined)
  const state = rememberState(clock.now)
  const sessions = openSessions({
    readPublished: look,
    viewOf: (published, signal) => {
      const view: View = openView({
        connection,
        names: names.at(published.generations),
        published,
        hints,
        remembered: state.of(published),
        signal,
        onNothing: () => emptyHanded.add(view),
      })
      metas.set(view, published)
      return view
    },
    sleep: clock.sleep,
    now: clock.now,
    patienceMs: READ_PATIENCE_MS,
    require: ({ mending }) => {
      if (mending && !isMender) throw underRepair(`${connection.url}/${names.prefix}`)
    },
    nothing: () => nothingLoaded(`${connection.url}/${names.prefix}`),
  })
  const whole = wholeness({ look: () => lostToReaders(cluster, published), now: clock.now })
  const requireWhole = (signal?: AbortSignal): Promise<void> =>
    untilAborted(signal, whole.require(), 'the store was checked')
  /** Ends as the work does, unless it found nothing and the store turns out to have lost something meanwhile. */
  const unlessLost = async <T>(view: View, work: Promise<T>, signal?: AbortSignal): Promise<T> => {
    const [done] = await Promise.allSettled([work])
    const isNotFound =
      done.status === 'rejected' && done.reason instanceof Failure && done.reason.kind === 'not_found'
    if (isNotFound || emptyHanded.has(view))
      await untilAborted(signal, whole.requireNow(), 'the store was looked at')
    return work
  }
  let writing = false
  let isMender = false
  let writer: Writer | undefined

  const takeOver: Store['takeOver'] = async (identity, { mending = false } = {}) => {
    if (writing)
      throw new Failure('conflict', `Another loader of this process is writing to ${names.prefix}.`, {
        retryable: true,
      })
    const onRelease = () => {
      writing = false
      writer = undefined
    }
    writing = true
    try {
      const stored = await readCheckpoint(cluster)
      if (stored === undefined) await onceStarted(() => requireNothing(cluster), clock)
      if (mending) await createIndices(cluster, { mending })
      else await refuseLost(cluster)
      requireAll(await checkIndices(cluster))
      const own = at(cluster, stored?.checkpoint.generations)
      await untilStarted(own)
      const partitionDocuments = options.partitionDocuments ?? PARTITION_DOCUMENTS
      const opened = await openWriter({
        cluster: own,
        identity,
        partitionDocuments,
        mending,
        onRelease,
      })
      isMender ||= mending
      writer = tellingWriter(opened, () => {
        state.forget()
        sessions.lookAgain()
        if (mending) whole.lookAgain()
      })
      return writer
    } catch (error) {
      onRelease()
      throw error
    }
  }

  const requireAll = (differences: Awaited<ReturnType<typeof checkIndices>>): void => {
    refuseDifferent(connection, differences)
    if (differences.length === 0) return
    const missing = differences.map(({ name }) => name).join(', ')
    throw new Failure(
      'conflict',
      `Indices of ${names.prefix} are missing at ${connection.url}: ${missing}.`,
      {
        help: 'Run: iostlens indices create.',
      },
    )
  }

  const source: Migrating['source'] = {
    published: async () => (await published())?.end,
    identity: async () => {
      const stored = await readCheckpoint(cluster)
      if (stored === undefined) return undefined
      const { chainId, genesis, derivation } = stored.checkpoint
      return { chainId, genesis, derivation }
    },
    read: async (work, { signal, damaged } = {}) => {
      if (damaged !== true) await requireWhole(signal)
      return sessions.read(view => {
        const done = removedMeanwhile(work(view), metas.get(view), published)
        return damaged === true ? done : unlessLost(view, done, signal)
      }, signal)
    },
  }

  return {
    ...source,
    name: `${connection.url}/${names.prefix}`,
    create: () => createIndices(cluster),
    check: async () => {
      await onceStarted(() => requireNothing(cluster), clock)
      const lost = await lostOf(cluster)
      const told = new Set(lost.map(({ name }) => name))
      const others = await checkIndices(cluster)
      return [...lost, ...others.filter(({ name, problem }) => problem !== 'missing' || !told.has(name))]
    },
    restore: async () => {
      const restored = await restoreRecord(cluster)
      whole.lookAgain()
      sessions.lookAgain()
      return restored
    },
    whole: requireWhole,
    takeOver,
    merge: how => mergeFinished(cluster, how),
    partitions: async () => (await published())?.partitions ?? FIRST_PARTITION,
    audit: () => openAudit(cluster),
    keys: openKeys({ connection: keysConnection, names }),
    migrating: migratingOf({
      cluster,
      source,
      open: building => openElastic({ ...options, building }),
    }),
    close: async () => {
      // Out of reach: the lease ends by itself.
      if (writer !== undefined) await within(writer.release(), { ms: CLOSE_MS }).catch(() => undefined)
      closing.abort()
      await Promise.all([connection.close(), keysConnection.close()])
    },
  }
}
