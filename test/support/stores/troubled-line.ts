import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'

/** `hold` accepts connections and passes nothing on, `cut` closes all connections. */
export type Trouble = 'none' | 'hold' | 'cut' | { readonly delayMs: number }

export type TroubledLine = Awaited<ReturnType<typeof openTroubledLine>>

export async function openTroubledLine(target: string) {
  const to = new URL(target)
  let trouble: Trouble = 'none'
  const all = new Set<Socket>()
  const carry = (from: Socket, to: Socket): void => {
    from.on('data', bytes => {
      if (trouble === 'none') to.write(bytes)
      // Held bytes are lost: a client that waited for them has to send its request again.
      else if (typeof trouble === 'object') setTimeout(() => to.writable && to.write(bytes), trouble.delayMs)
    })
    from.on('error', () => to.destroy())
    from.on('close', () => {
      all.delete(from)
      to.destroy()
    })
    all.add(from)
  }
  const server = createServer(client => {
    if (trouble === 'cut') return void client.destroy()
    const upstream = connectTo(Number(to.port), to.hostname)
    carry(client, upstream)
    carry(upstream, client)
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Changes the treatment of open connections as well as of new ones. */
    suffer: (next: Trouble): void => {
      // The answer to a held request never comes, so its connection is closed.
      if (trouble === 'hold' || next === 'cut') for (const socket of all) socket.destroy()
      trouble = next
    },
    close: async (): Promise<void> => {
      for (const socket of all) socket.destroy()
      await new Promise(done => server.close(done))
    },
  }
}
