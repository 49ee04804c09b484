import { createServer } from 'node:net'

const FIRST_PORT = 20_000
/** Below the ports that systems give to outgoing connections, so that none takes a port while its server is away. */
const PORTS = 12_000
const given = new Set<number>()

/** A port of 127.0.0.1 that nobody listens on, another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS)
    if (given.has(port) || !(await canListen(port))) continue
    given.add(port)
    return port
  }
}

const canListen = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
