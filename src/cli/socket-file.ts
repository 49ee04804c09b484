import { lstatSync, renameSync, rmSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'

export type PlacedSocket<T> = {
  readonly server: T
  /** Deletes the file, unless another process has put its own in its place. */
  hide(): void
}

const OTHER_PATH = 'or choose another path with --listen unix:PATH'

/**
 * Throws 'usage' when the file is not a socket, or when a process answers on it, unless both share the
 * socket. The socket of a dead process is left to be replaced.
 */
export async function requireFreeSocket(path: string, isShared: boolean): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket())
    throw new Failure('usage', `${path} exists and is not a Unix socket.`, {
      help: `Delete it if nobody needs it, ${OTHER_PATH}.`,
    })
  if (!isShared && (await isAnswered(path)))
    throw new Failure('usage', `The Unix socket ${path} is in use by another process.`, {
      help: `Stop that process, ${OTHER_PATH}. With --reuse-port the next process takes the socket over.`,
    })
}

async function isAnswered(path: string): Promise<boolean> {
  try {
    const connection = await Bun.connect({ unix: path, socket: { data: () => undefined } })
    connection.end()
    return true
  } catch (error) {
    // The socket of a dead process refuses connections. Any other error, such as a denied access or a full
    // queue, means that a process is there.
    return !(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')
  }
}

/**
 * Listens on a temporary path and then renames the socket to its path. At any moment clients find the former
 * socket or this one, and never one with other access rights than `mode`.
 */
export function placeSocket<T>(
  { path, mode }: { readonly path: string; readonly mode: number },
  listen: (ownPath: string) => T,
): PlacedSocket<T> {
  const ownPath = `${path}.${process.pid}`
  // An earlier process with the same number may have died before it renamed its socket.
  rmSync(ownPath, { force: true })
  const before = process.umask(0o777 & ~mode)
  let server: T
  try {
    server = listen(ownPath)
  } finally {
    process.umask(before)
  }
  const { ino } = lstatSync(ownPath)
  renameSync(ownPath, path)
  return {
    server,
    hide: () => {
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true })
    },
  }
}
