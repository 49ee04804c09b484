import { lstatSync, renameSync, rmSync } from 'node:fs'
import { Failure, getErrorMessage } from '#failure/failure.ts'
import type { createApp } from '#http/app.ts'
import type { Address, SocketPath } from './setting-readers.ts'

/** Runs `listen`. An address that is in use or not of this machine becomes a 'usage' Failure. */
export function startListening<T>(
  address: Address | SocketPath,
  setting: '--listen' | '--metrics-listen',
  listen: () => T | null | undefined,
): T {
  const name = 'path' in address ? `unix:${address.path}` : formatUrl(address).slice('http://'.length)
  const other = `${setting} ${'path' in address ? 'unix:PATH' : 'HOST:PORT'}`
  try {
    const server = listen()
    if (server !== null && server !== undefined) return server
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (code === 'EADDRINUSE')
      throw new Failure('usage', `Address ${name} is in use by another program.`, {
        help: `Stop that program, or choose another address with ${other} (port 0 picks a free port).`,
        cause,
      })
    const reason = getErrorMessage(cause)
    throw new Failure('usage', `Cannot listen on ${name}: ${reason}.`, {
      help: `Choose another address with ${other}.`,
      cause,
    })
  }
  throw new Failure('defect', `Listening on ${name} returned no server.`)
}

export const formatUrl = ({ host, port }: Address): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** The base URL of a service; for a Unix socket as nginx writes it: `http://unix:/run/iostlens.sock:/iost`. */
export const formatBaseUrl = (address: Address | SocketPath, basePath: string): string =>
  'path' in address
    ? `http://unix:${address.path}${basePath === '' ? '' : `:${basePath}`}`
    : `${formatUrl(address)}${basePath}`

/** The way to call a path of a service: its URL, or a curl command for a Unix socket. */
export const formatCall = (address: Address | SocketPath, path: string): string =>
  'path' in address ? `curl --unix-socket ${address.path} 'http://localhost${path}'` : `${formatUrl(address)}${path}`

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
function placeSocket<T>(
  { path, mode }: { readonly path: string; readonly mode: number },
  listen: (ownPath: string) => T,
) {
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
    hide: (): void => {
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true })
    },
  }
}

/**
 * Makes an app listen. `isShared`: other processes may listen on the address, too; `mode`: the access rights of a Unix
 * socket. The result has the address with the actual port; `hide` deletes the file of a Unix socket if it is still this
 * server's, and open connections stay. Throws 'usage' when the address is not available.
 */
export function openServer(
  app: ReturnType<typeof createApp>,
  address: Address | SocketPath,
  { isShared, mode }: { readonly isShared: boolean; readonly mode: number },
) {
  const listenOn = (where: Parameters<typeof app.listen>[0]) =>
    startListening(address, '--listen', () => {
      app.listen(where)
      return app.server
    })
  if ('path' in address) {
    const { server, hide } = placeSocket({ ...address, mode }, unix => listenOn({ unix }))
    return { address, hide, stop: (isAtOnce?: boolean): Promise<void> => server.stop(isAtOnce) }
  }
  // By default Elysia would share the port with other processes of the same user.
  const server = listenOn({ hostname: address.host, port: address.port, reusePort: isShared })
  return {
    address: { host: address.host, port: server.port ?? address.port },
    hide: () => undefined,
    stop: (isAtOnce?: boolean): Promise<void> => server.stop(isAtOnce),
  }
}
