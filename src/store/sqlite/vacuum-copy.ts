import { Failure } from '#failure/failure.ts'
import { createFile } from '#store/own-files.ts'
import { mapSqliteErrors, openReader } from './connection.ts'
import { getPublished } from './meta.ts'

export type Pages = { readonly path: string; readonly name: string; readonly partial: string }

/** Copies all used pages with one statement, and lets SQLite check the copy; returns its height. */
export function vacuumInto({ path, name, partial }: Pages): number {
  using source = openReader(path, name)
  if (source === undefined) throw new Failure('unavailable', `${name} is gone.`)
  // sqlite.org/lang_vacuum.html: one transaction, and the copy has no free pages.
  mapSqliteErrors(`Copying ${name} to ${partial}`, () => {
    createFile(partial)
    source.statement('VACUUM INTO ?').run(partial)
  })
  return checkedHeight(partial)
}

/** Height of a copy that passes SQLite's integrity check. Throws 'damaged' otherwise. */
function checkedHeight(partial: string): number {
  using copy = openReader(partial, partial)
  if (copy === undefined) throw new Failure('damaged', `The copy ${partial} is gone.`)
  const verdict = String(copy.row('PRAGMA integrity_check')?.[0])
  const published = getPublished(copy)
  if (verdict !== 'ok' || published === undefined)
    throw new Failure('damaged', `The copy is not whole: ${verdict}.`, {
      help: "Check the store itself with 'iostlens verify --node URL'.",
    })
  return published.height
}
