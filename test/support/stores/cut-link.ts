import { connect, createServer, type Socket } from 'node:net'

/** A TCP port that forwards to another port, and that can be cut off. */
export type Link = Disposable & {
  readonly port: number
  /** Closes all connections and accepts no more. */
  cut(): void
}

/** A link from port `from` to port `to`, both on 127.0.0.1. */
export async function openLink(from: number, to: number): Promise<Link> {
  const open = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket, other: Socket): void => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      open.delete(socket)
      other.destroy()
    })
  }
  const server = createServer(near => {
    if (isCut) return void near.destroy()
    const far = connect(to, '127.0.0.1')
    keep(near, far)
    keep(far, near)
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>(ready => server.listen(from, '127.0.0.1', ready))
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  return {
    port: from,
    cut,
    [Symbol.dispose]: () => {
      cut()
      server.close()
    },
  }
}
