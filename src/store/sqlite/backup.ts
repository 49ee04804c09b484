import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '#failure/failure.ts'
import type { CopyOptions, CopyResult } from '#store/maintain-port.ts'
import { openReader } from './connection.ts'
import { acquireLock } from './lock.ts'
import { getPublished, isUnderRepair } from './meta.ts'
import type { OpenWritingThread } from './threads/far-batches.ts'
import { parseFailure } from './threads/write-in-thread.ts'
import { type Pages, vacuumInto } from './vacuum-copy.ts'

/**
 * Copies all used pages to a new file and lets SQLite check the copy; returns its height. With `open` a
 * thread does this, and `onProgress` gets the number of bytes written. Throws 'deadline' when `signal`
 * aborts; the thread's unfinished work then ends with the process.
 */
async function copyPages(
  { open, ...pages }: Pages & { readonly open?: OpenWritingThread | undefined },
  { signal, onProgress }: CopyOptions,
): Promise<number> {
  if (open === undefined) return vacuumInto(pages)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const thread = open({
    message: message => {
      if (message.type === 'failed') reject(parseFailure(message))
      else if (message.type === 'copied') resolve(message.height)
    },
    ended: reason => reject(new Failure('unavailable', `The thread that copies ${pages.name} has died: ${reason}.`)),
  })
  const stop = (): void => reject(new Failure('deadline', `Copying ${pages.name} was stopped.`))
  signal?.addEventListener('abort', stop)
  const of = statSync(pages.path).size
  const report = (): void => {
    const { size = 0 } = statSync(pages.partial, { throwIfNoEntry: false }) ?? {}
    onProgress?.({ done: size, of })
  }
  const look = setInterval(report, 500)
  try {
    thread.post({ type: 'copy', pages })
    if (signal?.aborted === true) stop()
    return await promise
  } finally {
    clearInterval(look)
    signal?.removeEventListener('abort', stop)
    thread.end()
  }
}

/** `open` starts the thread that copies; absent: this thread copies and is blocked meanwhile. */
type Source = { readonly path: string; readonly name: string; readonly open?: OpenWritingThread | undefined }

/**
 * Copies a store to the new file `target` while the store may be loaded and served. One read transaction makes the
 * copy, so it is of one height, and it includes the keys. The copy is checked and synced before it gets its final name.
 * A killed copy leaves `target.partial`, its journal and its lock, and the next copy removes them. Only one program at
 * a time can copy to a file. Throws 'usage' when `target` exists or is being made, 'unavailable' when nothing is loaded
 * or the disk is full, and 'damaged' when the copy is damaged.
 */
export async function copyStore(source: Source, target: string, how: CopyOptions = {}): Promise<CopyResult> {
  const folder = dirname(target)
  if (!existsSync(folder))
    throw new Failure('usage', `The folder ${folder} does not exist.`, { help: 'Create it first.' })
  if (!statSync(folder).isDirectory())
    throw new Failure('usage', `${folder} is not a folder.`, { help: 'Name a file in a folder.' })
  const partial = `${target}.partial`
  const unlock = acquireLock(partial, partial)
  if (unlock === undefined)
    throw new Failure('usage', `Another program is making ${target}.`, {
      help: 'Wait until it is done, or name another file.',
    })
  try {
    // A copy that was killed right after its naming has left its partial name, too.
    removePartial(partial)
    refuseExisting(target)
    requireCopiable(source)
    const height = await copyPages({ ...source, partial }, how)
    sync(partial)
    await how.beforeNaming?.(partial)
    // Unlike a rename, a link never replaces a file created meanwhile.
    link(partial, target)
    return { height, bytes: statSync(target).size }
  } finally {
    removePartial(partial)
    unlock({ remove: true })
  }
}

function requireCopiable({ path, name }: Source): void {
  using store = openReader(path, name)
  if (store === undefined || getPublished(store) === undefined)
    throw new Failure('unavailable', `${name}: nothing is loaded yet, so there is nothing to copy.`)
  if (isUnderRepair(store))
    throw new Failure('unavailable', `${name} is being repaired, or its repair is not complete.`, {
      help: "Run 'iostlens repair --node URL' to its end, then copy.",
    })
}

/** Also removes SQLite's journal of a killed copy, which the next copy must not use. */
function removePartial(partial: string): void {
  for (const end of ['', '-journal']) rmSync(`${partial}${end}`, { force: true })
}

function refuseExisting(target: string): void {
  if (existsSync(target))
    throw new Failure('usage', `${target} exists; a copy replaces no file.`, {
      help: 'Name a file that does not exist yet, or remove this one.',
    })
}

/** Power loss may remove a file until the file and its folder are synced. */
export function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function link(partial: string, target: string): void {
  try {
    linkSync(partial, target)
  } catch (error) {
    refuseExisting(target)
    throw error
  }
  sync(dirname(target))
}
