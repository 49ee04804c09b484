import type { createApp } from '#http/app.ts'
import { listening } from './listen.ts'
import type { Address, SocketPath } from './readers.ts'
import { placeSocket } from './socket-file.ts'

/** A server that listens. */
export type OpenServer = {
  /** With the port that was really taken. */
  readonly address: Address | SocketPath
  /** Takes the file of a Unix socket away, where it is still this server's; what has connected stays so. */
  hide(): void
  stop(isAtOnce?: boolean): Promise<void>
}

/** How the address is held: whether others may listen on it too, and the access rights of a Unix socket. */
type Holding = { readonly isShared: boolean; readonly mode: number }

/** Lets an app listen. Throws 'usage' when the address is not available. */
export const openServer = (
  app: ReturnType<typeof createApp>,
  address: Address | SocketPath,
  { isShared, mode }: Holding,
): OpenServer => {
  const listenOn = (where: Parameters<typeof app.listen>[0]) =>
    listening(address, '--listen', () => {
      app.listen(where)
      return app.server
    })
  if ('path' in address) {
    const { server, hide } = placeSocket({ ...address, mode }, unix => listenOn({ unix }))
    return { address, hide, stop: isAtOnce => server.stop(isAtOnce) }
  }
  // Elysia by itself would share the port with any other process of ours.
  const server = listenOn({ hostname: address.host, port: address.port, reusePort: isShared })
  return {
    address: { host: address.host, port: server.port ?? address.port },
    hide: () => undefined,
    stop: isAtOnce => server.stop(isAtOnce),
  }
}
