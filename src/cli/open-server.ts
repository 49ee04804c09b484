import type { createApp } from '#http/app.ts'
import { listening } from './listen.ts'
import type { Address, SocketPath } from './readers.ts'
import { placeSocket } from './socket-file.ts'

/** A listening server. */
export type OpenServer = {
  /** The address with the actual port. */
  readonly address: Address | SocketPath
  /** Deletes the file of a Unix socket if it is still this server's; open connections stay. */
  hide(): void
  stop(isAtOnce?: boolean): Promise<void>
}

/** Whether other processes may listen on the address too, and the access rights of a Unix socket. */
type Holding = { readonly isShared: boolean; readonly mode: number }

/** Makes an app listen. Throws 'usage' when the address is not available. */
export function openServer(
  app: ReturnType<typeof createApp>,
  address: Address | SocketPath,
  { isShared, mode }: Holding,
): OpenServer {
  const listenOn = (where: Parameters<typeof app.listen>[0]) =>
    listening(address, '--listen', () => {
      app.listen(where)
      return app.server
    })
  if ('path' in address) {
    const { server, hide } = placeSocket({ ...address, mode }, unix => listenOn({ unix }))
    return { address, hide, stop: isAtOnce => server.stop(isAtOnce) }
  }
  // By default Elysia would share the port with other processes of the same user.
  const server = listenOn({ hostname: address.host, port: address.port, reusePort: isShared })
  return {
    address: { host: address.host, port: server.port ?? address.port },
    hide: () => undefined,
    stop: isAtOnce => server.stop(isAtOnce),
  }
}
