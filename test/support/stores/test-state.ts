import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateFile } from '#store/sqlite/state-file.ts'
import type { StateFile } from '#store/state-port.ts'

const folderOf = (prefix: string): string => join(tmpdir(), `iostlens-state-${prefix}`)

/** The state file of the loaders of a store, which all processes of a test find by the store's prefix. */
export const openTestState = (prefix: string, of: 'served' | 'building' = 'served'): StateFile =>
  openStateFile(join(folderOf(prefix), `${of}.sqlite`))

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
