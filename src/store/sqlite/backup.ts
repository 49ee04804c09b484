import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '#failure/failure.ts'
import type { Copied } from '#store/maintain-port.ts'
import { openReader } from './connection.ts'
import { guarded } from './failures.ts'
import { getPublished, isUnderRepair } from './meta.ts'

/**
 * Copies the store of `path` to `target`, a file that is not there yet, while it may be loaded and served: one read
 * transaction, so the copy is of one height, with its keys. The copy is checked and synced before it gets its name;
 * a killed copy leaves `target.partial` and its journal, and the next one removes them. `beforeNaming` looks at the copy
 * before that.
 * Throws 'usage' when `target` is there, 'unavailable' when nothing is loaded or the disk is full, 'damaged' when the
 * copy is not whole.
 */
export const copyStore = async (
  { path, name }: { readonly path: string; readonly name: string },
  target: string,
  beforeNaming: (partial: string) => Promise<void> = async () => {},
): Promise<Copied> => {
  const partial = `${target}.partial`
  // A copy that was killed right behind its naming has left its second name, too.
  removePartial(partial)
  refuseExisting(target)
  const source = openReader(path, name)
  try {
    if (source === undefined || guarded(name, () => getPublished(source)) === undefined)
      throw new Failure('unavailable', `${name}: nothing is loaded yet, so there is nothing to copy.`)
    if (isUnderRepair(source))
      throw new Failure('unavailable', `${name} is being repaired, or its repair has not come to its end.`, {
        help: 'Run iostlens repair --node URL to its end, then copy.',
      })
    // sqlite.org/lang_vacuum.html: one transaction, and the copy has no free pages.
    guarded(`Copying ${name} to ${partial}`, () => source.statement('VACUUM INTO ?').run(partial))
    const height = checkedHeight(partial)
    sync(partial)
    await beforeNaming(partial)
    // Unlike a rename, a link never replaces a file that came meanwhile.
    link(partial, target)
    return { height, bytes: statSync(target).size }
  } finally {
    source?.close()
    removePartial(partial)
  }
}

/** SQLite's journal of a copy that was killed must not be taken for that of the next one. */
const removePartial = (partial: string): void => {
  for (const end of ['', '-journal']) rmSync(`${partial}${end}`, { force: true })
}

const refuseExisting = (target: string): void => {
  if (existsSync(target))
    throw new Failure('usage', `${target} exists; a copy replaces no file.`, {
      help: 'Name a file that is not there yet, or remove this one.',
    })
  if (!existsSync(dirname(target)))
    throw new Failure('usage', `The folder ${dirname(target)} does not exist.`, { help: 'Create it first.' })
}

/** Height of a copy that SQLite finds whole. */
const checkedHeight = (partial: string): number => {
  const copy = openReader(partial, partial)
  if (copy === undefined) throw new Failure('damaged', `The copy ${partial} is gone.`)
  try {
    return guarded(partial, () => {
      const said = String(copy.row('PRAGMA integrity_check')?.[0])
      const published = getPublished(copy)
      if (said !== 'ok' || published === undefined)
        throw new Failure('damaged', `The copy is not whole: ${said}.`, {
          help: "Check the store itself with 'iostlens verify --node URL'.",
        })
      return published.height
    })
  } finally {
    copy.close()
  }
}

/** Until a file and its folder are synced, power loss may take them. */
export const sync = (file: string): void => {
  const handle = openSync(file, 'r+')
  fsyncSync(handle)
  closeSync(handle)
}

const link = (partial: string, target: string): void => {
  try {
    linkSync(partial, target)
  } catch (error) {
    refuseExisting(target)
    throw error
  }
  const folder = openSync(dirname(target), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
