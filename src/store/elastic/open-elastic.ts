import { Failure } from '#failure/failure.ts'
import type { BatchSize } from '#store/batch.ts'
import type { CallEnd, Store } from '#store/port.ts'
import type { StateFile } from '#store/state-port.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { joinSignals } from '#time/deadline.ts'
import { type ConnectionOptions, connect } from './client/connection.ts'
import type { WriteEvent } from './client/sender.ts'
import { openMigration } from './migration.ts'
import { openAudit } from './read/audit.ts'
import { openReading } from './read/open-reading.ts'
import { readDisks, readServerReport } from './read/server-report.ts'
import { awaitStarted, checkIndices, checkStore, createIndices } from './schema/create-indices.ts'
import { type Cluster, createNames, type Generations } from './schema/names.ts'
import { openSnapshots } from './snapshot.ts'
import { forceMergeFinished } from './write/force-merge.ts'
import { openKeys } from './write/keys.ts'
import { restoreCheckpoint } from './write/repair.ts'
import { openElasticUsage } from './write/usage.ts'
import { openSoleWriter } from './write/writer.ts'

export type ElasticOptions = ConnectionOptions & {
  /** Prefix of the names of all indices, `PREFIX-…`. */
  readonly prefix: string
  /** Replicas of each index, set when it is created. Default 0. */
  readonly replicas?: number
  /** History documents after which a new partition is opened. Default 100,000,000. */
  readonly partitionDocuments?: number
  /** Amount of history that a loader writes ahead of its batch at once. Default 8,000 documents, 4 MB. */
  readonly chunk?: BatchSize
  /** Time after which the lease of an unresponsive loader expires, milliseconds. Default 15,000. */
  readonly leaseMs?: number
  /** Maximum time for one answer to a write, milliseconds. Default 120,000. */
  readonly writeTimeoutMs?: number
  /** Maximum time that a write is retried before the loader gives up, milliseconds. Default 300,000. */
  readonly retryTimeoutMs?: number
  readonly onEvent?: (event: WriteEvent) => void
  /** Called for each state document that may be cached. */
  readonly onCacheRead?: (isHit: boolean) => void
  readonly onCall?: ((end: CallEnd) => void) | undefined
  /** Generations that a migration is building, which no reader uses. Absent: the served ones. */
  readonly building?: Generations
  /**
   * Opens the loader's own file with the state of the served indices, or of those that a migration builds. Throws 'conflict'
   * while another process has the file.
   */
  readonly openStateFile?: (of: 'served' | 'building') => StateFile
  /** Time and randomness, for tests. */
  readonly clock?: Partial<Clock>
}

/** A shard can have 2^31 documents; merging, moving and restoring work best with a twentieth of that. */
export const PARTITION_DOCUMENTS = 100_000_000

/** A store that can lose parts alone and keeps its history in partitions. */
export type ElasticStore = Store & Required<Pick<Store, 'whole' | 'partitions' | 'snapshots'>>

/**
 * Documents in Elasticsearch (8.19 or 9). No request is sent before the first call. The failures of every
 * call name the server, the index and the remedy, never a password or key.
 */
export function openElastic(options: ElasticOptions): ElasticStore {
  const closing = new AbortController()
  const cluster = openCluster(options, closing.signal)
  const { connection, names } = cluster
  // API keys have a connection of their own, so that hung requests do not prevent reading them.
  const keysConnection = connect({ ...options, maxSockets: 8 })
  const reading = openReading(cluster)
  const onChange = (): void => {
    reading.checkAgain()
    reading.expire()
  }
  const { partitionDocuments = PARTITION_DOCUMENTS, chunk = { documents: 8_000, bytes: 4_000_000 } } = options
  const openState = (of: 'served' | 'building'): StateFile => {
    if (options.openStateFile === undefined)
      throw new Failure('defect', 'The store was opened without a file for state.')
    return options.openStateFile(of)
  }
  const openStateFile = () => openState(options.building === undefined ? 'served' : 'building')
  const { takeOver, release } = openSoleWriter(cluster, reading, { partitionDocuments, chunk, openStateFile })
  return {
    ...reading.source,
    name: `${connection.url}/${names.prefix}`,
    whole: reading.whole,
    partitions: { firsts: reading.partitions, merge: how => forceMergeFinished(cluster, how) },
    takeOver,
    create: () => createIndices(cluster),
    check: () => checkStore(cluster),
    checkShape: () => awaitStarted(() => checkIndices(cluster), cluster.clock),
    serverReport: () => readServerReport(cluster),
    disks: async () => (await readDisks(cluster)) ?? [],
    restore: async () => {
      const restored = await restoreCheckpoint(cluster)
      onChange()
      return restored
    },
    audit: () => openAudit(cluster),
    snapshots: openSnapshots(cluster, onChange),
    keys: openKeys({ connection: keysConnection, names }),
    usage: openElasticUsage({ ...cluster, connection: keysConnection }),
    migrating: openMigration(cluster, {
      source: openReading(cluster, { ofAnyVersion: true }).source,
      open: building => openElastic({ ...options, building }),
      openBuildingState: () => openState('building'),
    }),
    close: async () => {
      await release()
      closing.abort()
      await Promise.all([connection.close(), keysConnection.close()])
    },
  }
}

function openCluster(options: ElasticOptions, closed: AbortSignal): Cluster {
  // Once the store is closed, every sleep ends with 'unavailable'.
  const sleep: Clock['sleep'] = async (ms, signal) => {
    const ends = joinSignals(closed, signal)
    await systemClock.sleep(ms, ends.signal)
    ends.release()
    if (closed.aborted) throw new Failure('unavailable', 'The store was closed.', { retryable: false })
  }
  return {
    connection: connect(options),
    names: createNames(options.prefix, options.building),
    clock: { ...systemClock, sleep, ...options.clock },
    replicas: options.replicas ?? 0,
    leaseMs: options.leaseMs ?? 15_000,
    writeTimeoutMs: options.writeTimeoutMs ?? 120_000,
    retryTimeoutMs: options.retryTimeoutMs ?? 300_000,
    onEvent: options.onEvent ?? (() => {}),
    onCacheRead: options.onCacheRead,
    onCall: options.onCall,
  }
}
