import { Failure, messageOf } from '#failure/failure.ts'
import type { Address, SocketPath } from './readers.ts'

/** Runs `listen`. An address that is in use or not of this machine becomes a 'usage' Failure. */
export const listening = <T>(
  address: Address | SocketPath,
  setting: '--listen' | '--metrics-listen',
  listen: () => T | null | undefined,
): T => {
  const name = 'path' in address ? `unix:${address.path}` : urlOf(address).slice('http://'.length)
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
    const reason = messageOf(cause)
    throw new Failure('usage', `Cannot listen on ${name}: ${reason}.`, {
      help: `Choose another address with ${other}.`,
      cause,
    })
  }
  throw new Failure('defect', `Listening on ${name} returned no server.`)
}

export const urlOf = ({ host, port }: Address): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * The base URL of a service. For a Unix socket it has the form that nginx uses: `http://unix:/run/iostlens.sock:/iost`.
 */
export const baseUrlOf = (address: Address | SocketPath, basePath: string): string =>
  'path' in address
    ? `http://unix:${address.path}${basePath === '' ? '' : `:${basePath}`}`
    : `${urlOf(address)}${basePath}`

/** The way to call a path of a service: its URL, or a curl command for a Unix socket. */
export const callOf = (address: Address | SocketPath, path: string): string =>
  'path' in address ? `curl --unix-socket ${address.path} 'http://localhost${path}'` : `${urlOf(address)}${path}`

/** An address reserved for threads until they listen on it. */
export type Reservation = { readonly address: Address; release(): void }

/** Answers the requests that arrive before the threads listen. */
type Answer = (request: Request) => Response | Promise<Response>

/**
 * Reserves an address on which nobody listens, and resolves port 0 to a real port. The threads share the
 * address, so the system would let another process of the same user share it too; such a process is refused
 * from here on. Throws as `listening` does.
 */
export const reserve = (address: Address, answer: Answer): Reservation => {
  const open = (reusePort: boolean) =>
    listening(address, '--listen', () =>
      Bun.serve({
        hostname: address.host,
        port: address.port,
        reusePort,
        fetch: request => answer(request),
      }),
    )
  // The system never assigns port 0 twice. For another port it reports only without `reusePort` whether it is in use.
  if (address.port !== 0) void open(false).stop(true)
  const held = open(true)
  return {
    address: { host: address.host, port: held.port ?? address.port },
    // Requests on connections that are already open are answered.
    release: () => void held.stop(),
  }
}

/**
 * Reserves an address that other processes may share. Nobody may answer there before the threads do, so only
 * a free port is reserved.
 */
export const shared = (address: Address, answer: Answer): Reservation =>
  address.port === 0 ? reserve(address, answer) : { address, release: () => undefined }
