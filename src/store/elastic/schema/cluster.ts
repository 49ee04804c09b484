import type { ReadEnd } from '#store/port.ts'
import type { Connection } from '../client/connection.ts'
import type { Sender } from '../client/sender.ts'
import type { Generations, Names } from './names.ts'

/** One store in an Elasticsearch cluster, for functions that write. */
export type Cluster = Sender & {
  readonly names: Names
  /** Number of replicas of each new index. */
  readonly replicas: number
  /** Time after which a lease expires unless it is renewed, milliseconds. */
  readonly leaseMs: number
  /** Called for each state document that may be cached. */
  readonly onCacheRead?: ((isHit: boolean) => void) | undefined
  /** Called when a read has ended; not for held views. */
  readonly onRead?: ((end: ReadEnd) => void) | undefined
}

/** One store in an Elasticsearch cluster, for functions that only read. */
export type ReadCluster = { readonly connection: Connection; readonly names: Names }

/** The same store with other generations of its indices; undefined: unchanged. */
export const at = <C extends ReadCluster>(cluster: C, generations: Generations | undefined): C => ({
  ...cluster,
  names: cluster.names.at(generations),
})
