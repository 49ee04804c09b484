import { Failure, getErrorMessage } from '#failure/failure.ts'
import type { Address, SocketPath } from './readers.ts'

/** Runs `listen`. An address that is in use or not of this machine becomes a 'usage' Failure. */
export function listening<T>(
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

/**
 * The base URL of a service. For a Unix socket it has the form that nginx uses: `http://unix:/run/iostlens.sock:/iost`.
 */
export const formatBaseUrl = (address: Address | SocketPath, basePath: string): string =>
  'path' in address
    ? `http://unix:${address.path}${basePath === '' ? '' : `:${basePath}`}`
    : `${formatUrl(address)}${basePath}`

/** The way to call a path of a service: its URL, or a curl command for a Unix socket. */
export const formatCall = (address: Address | SocketPath, path: string): string =>
  'path' in address ? `curl --unix-socket ${address.path} 'http://localhost${path}'` : `${formatUrl(address)}${path}`
