import type { Connection } from '../client/connection.ts'
import type { Sender } from '../client/sender.ts'
import type { Generations, Names } from './names.ts'

/** One store in an Elasticsearch cluster: what every function that writes there is given. */
export type Cluster = Sender & {
  readonly names: Names
  /** Replicas of each index that is created. */
  readonly replicas: number
  /** A loader that did not renew its lease for so long is taken for dead, milliseconds. */
  readonly leaseMs: number
}

/** What a function that only reads is given. */
export type ReadCluster = { readonly connection: Connection; readonly names: Names }

/** The same store with the indices of other generations; undefined: as it is. */
export const at = <C extends ReadCluster>(cluster: C, generations: Generations | undefined): C => ({
  ...cluster,
  names: cluster.names.at(generations),
})
