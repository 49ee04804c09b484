import { type Damageable, damageableElastic, damageableSqlite } from './damage.ts'

/** An empty store that other processes can load into. */
export type Place = AsyncDisposable & Pick<Damageable, 'store' | 'args' | 'dump' | 'destroy'>

export const sqlitePlace = (): Promise<Place> => damageableSqlite()

/** `partition`: documents per history partition. */
export const elasticPlace = (partition: number): Promise<Place> => damageableElastic({ partitionDocuments: partition })
