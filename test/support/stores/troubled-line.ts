import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'

/** What becomes of bytes: `hold` takes connections and requests and never passes on anything. */
export type Trouble = 'none' | 'hold' | { readonly delayMs: number }

/** A TCP proxy in front of a server, of connections that were made before as of new ones. */
export type TroubledLine = {
  readonly url: string
  suffer(trouble: Trouble): void
  close(): Promise<void>
}

export const openTroubledLine = async (target: string): Promise<TroubledLine> => {
  const { hostname, port } = new URL(target)
  let trouble: Trouble = 'none'
  const all = new Set<Socket>()
  const carry = (from: Socket, to: Socket): void => {
    from.on('data', bytes => {
      if (trouble === 'none') to.write(bytes)
      // What is held is lost: who waited for it has to ask again.
      else if (trouble !== 'hold') setTimeout(() => to.writable && to.write(bytes), trouble.delayMs)
    })
    from.on('error', () => to.destroy())
    from.on('close', () => {
      all.delete(from)
      to.destroy()
    })
    all.add(from)
  }
  const server = createServer(client => {
    const upstream = connectTo(Number(port), hostname)
    carry(client, upstream)
    carry(upstream, client)
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    suffer: next => {
      // A request that was swallowed would be waited for on its connection for ever.
      if (trouble === 'hold') for (const socket of all) socket.destroy()
      trouble = next
    },
    close: async () => {
      for (const socket of all) socket.destroy()
      await new Promise(done => server.close(done))
    },
  }
}
