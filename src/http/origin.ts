import { clientBehind, type Peer, type Trusted } from './forwarded.ts'
import { type IpAddress, ipAddressText, networkOf } from './ip-address.ts'

type Server = {
  readonly url: URL
  requestIP(request: Request): { readonly address: string } | null
}

/** Where requests come from. */
export type Origin = {
  /** The address of the client, or `unix`; undefined: it is unknown, as of a request that came over no socket. */
  clientOf(request: Request): string | undefined
  /** The network of the client, or `unix`; undefined: it is unknown, as of a request that came over no socket. */
  networkOf(request: Request): string | undefined
  /** Notes that a request is answered in the place of another one; gives the first. */
  replace(inner: Request, outer: Request): Request
}

export const originOf = (server: () => Server | null | undefined, trusted: readonly Trusted[]): Origin => {
  const outers = new WeakMap<Request, Request>()
  const peerOf = (request: Request): string | undefined => {
    const peer = server()?.requestIP(outers.get(request) ?? request)?.address
    return peer ?? (server()?.url.protocol === 'unix:' ? 'unix' : undefined)
  }
  const clientOf = (request: Request) => clientBehind(peerOf(request), request.headers, trusted)
  return {
    clientOf: request => textOf(clientOf(request), ipAddressText),
    networkOf: request => textOf(clientOf(request), networkOf),
    replace: (inner, outer) => {
      outers.set(inner, outer)
      return inner
    },
  }
}

const textOf = (client: Peer | undefined, ofAddress: (address: IpAddress) => string): string | undefined =>
  client === undefined || client === 'unix' ? client : ofAddress(client)
