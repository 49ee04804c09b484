import { clientBehind } from './forwarded.ts'
import { type IpRange, ipAddressText, networkOf } from './ip-address.ts'

type Server = { requestIP(request: Request): { readonly address: string } | null }

/** Where requests come from. */
export type Origin = {
  /** The address of the client; undefined: it is unknown, as of a request that came over no socket. */
  clientOf(request: Request): string | undefined
  /** The network of the client; undefined: it is unknown, as of a request that came over no socket. */
  networkOf(request: Request): string | undefined
  /** Notes that a request is answered in the place of another one; gives the first. */
  replace(inner: Request, outer: Request): Request
}

export const originOf = (server: () => Server | null | undefined, trusted: readonly IpRange[]): Origin => {
  const outers = new WeakMap<Request, Request>()
  const addressOf = (request: Request) =>
    clientBehind(server()?.requestIP(outers.get(request) ?? request)?.address, request.headers, trusted)
  return {
    clientOf: request => {
      const client = addressOf(request)
      return client === undefined ? undefined : ipAddressText(client)
    },
    networkOf: request => {
      const client = addressOf(request)
      return client === undefined ? undefined : networkOf(client)
    },
    replace: (inner, outer) => {
      outers.set(inner, outer)
      return inner
    },
  }
}
