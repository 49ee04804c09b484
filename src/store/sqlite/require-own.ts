import { Failure } from '#failure/failure.ts'
import type { Connection } from './connection.ts'
import { getOwner, type Owner } from './meta.ts'

/** Throws 'conflict' unless the file is still this one, and `owner` its writer. */
export const requireOwn = (writing: Connection, name: string, owner: Owner): void => {
  // The lock is by path: another one may lead to the same file.
  const now = getOwner(writing)
  if (now?.token !== owner.token)
    throw new Failure(
      'conflict',
      `Another loader has taken over ${name} (process ${now?.pid}, since ${now?.since}).`,
      { retryable: true },
    )
  requireInPlace(writing, name)
}

export const requireInPlace = (writing: Connection, name: string): void => {
  if (!writing.isInPlace())
    throw new Failure('conflict', `${name} was removed or replaced during loading.`, {
      help: 'Restore the right store file, without the -wal and -shm files of another one, and start again.',
    })
}
