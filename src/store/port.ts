import type { KeyStore, Usage } from './keys-port.ts'
import type { MaintainPort } from './maintain-port.ts'
import type { MigrationPort } from './migration-port.ts'
import type { ReadPort } from './read-port.ts'
import type { WritePort } from './write-port.ts'

export type { Audit, PlacedRow, StoredDocument } from './audit-port.ts'
export type { Batch, BatchEnd, Filling, History } from './batch.ts'
export type { KeyPage, KeyStore, StoredKey, Usage } from './keys-port.ts'
export type { MergeOptions, MergeProgress, StoreDifference } from './maintain-port.ts'
export type { Identity, Published } from './published.ts'
export type { CallEnd, HeldView, IsEnough, Moment, View } from './read-port.ts'
export type { Rewrite } from './repair-port.ts'
export type { Writer } from './write-port.ts'

/**
 * A document store: Elasticsearch or an embedded SQLite file. Both pass `test/store/suite`; a difference is a
 * bug. A capability of only one of them is a property that is absent in the other.
 */
export type Store = ReadPort &
  WritePort &
  MaintainPort & {
    /** `sqlite:…` or the URL without credentials, for messages. */
    readonly name: string
    readonly keys: KeyStore
    readonly usage: Usage
    readonly migrating: MigrationPort<Store>
    close(): Promise<void>
  }
