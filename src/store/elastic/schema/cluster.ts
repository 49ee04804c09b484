import type { ReadEnd } from '#store/port.ts'
import type { Connection } from '../client/connection.ts'
import type { Sender } from '../client/sender.ts'
import type { Generations, Names } from './names.ts'

/** One store in an Elasticsearch cluster, for functions that write. */
export type Cluster = Sender & {
  readonly names: Names
  /** Replicas of each index that is created. */
  readonly replicas: number
  /** A lease that is not renewed for this time has expired, milliseconds. */
  readonly leaseMs: number
  /** Called for each state document that may be in the cache. */
  readonly onCacheRead?: ((isHit: boolean) => void) | undefined
  /** Called when a read has ended, except those that are held. */
  readonly onRead?: ((end: ReadEnd) => void) | undefined
}

/** One store in an Elasticsearch cluster, for functions that only read. */
export type ReadCluster = { readonly connection: Connection; readonly names: Names }

/** The same store with the indices of other generations; undefined: unchanged. */
export const at = <C extends ReadCluster>(cluster: C, generations: Generations | undefined): C => ({
  ...cluster,
  names: cluster.names.at(generations),
})
