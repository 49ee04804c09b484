import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BatchSize } from '#store/batch.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { openStateFile } from '#store/sqlite/state-file.ts'
import type { StateFile } from '#store/state-port.ts'

const folderOf = (prefix: string): string => join(tmpdir(), `iostlens-state-${prefix}`)

/** The state file of the loaders of a store, which all processes of a test find by the store's prefix. */
export const openTestState = (prefix: string, of: 'served' | 'building' = 'served'): StateFile =>
  openStateFile(join(folderOf(prefix), `${of}.sqlite`))

/** The store of a test that the arguments of a process name, as those of `Place` do. */
export function openNamed([kind, at = '', prefix = '', partition]: readonly string[], chunk?: BatchSize): Store {
  if (kind === 'sqlite') return openSqlite({ path: at })
  return openElastic({
    url: at,
    prefix,
    leaseMs: 600,
    openStateFile: of => openTestState(prefix, of),
    ...(partition === undefined ? {} : { partitionDocuments: Number(partition) }),
    ...(chunk === undefined ? {} : { chunk }),
  })
}

/** Removes it, as if its disk were lost. No loader may have it open. */
export const removeTestState = (prefix: string): void => rmSync(folderOf(prefix), { recursive: true, force: true })

/** An empty state file, as on another machine, which is removed when it is closed. */
export function openOtherState(): StateFile {
  const prefix = `other-${crypto.randomUUID()}`
  const file = openTestState(prefix)
  const close = () => {
    file.close()
    removeTestState(prefix)
  }
  return Object.create(file, { close: { value: close } })
}
