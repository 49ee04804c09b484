/** One keep-alive connection that sends one request after the other. */
type Line = { ask(path: string): Promise<number>; close(): void }

/** Opens a connection. `ask` returns the status of the answer. When the connection closes, its request fails. */
async function openLine(url: URL, headers: Readonly<Record<string, string>> = {}): Promise<Line> {
  const more = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  let buffered = Buffer.alloc(0)
  let waiting: PromiseWithResolvers<number> | undefined
  const look = (): void => {
    const end = buffered.indexOf('\r\n\r\n')
    if (end === -1 || waiting === undefined) return
    const head = buffered.subarray(0, end).toString('latin1')
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    if (buffered.length < end + 4 + length) return
    buffered = buffered.subarray(end + 4 + length)
    waiting.resolve(Number(head.slice(9, 12)))
    waiting = undefined
  }
  const fail = (): void => waiting?.reject(new Error('The connection ended.'))
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      data: (_socket, bytes) => {
        buffered = Buffer.concat([buffered, bytes])
        look()
      },
      close: fail,
      error: fail,
    },
  })
  return {
    ask: path => {
      waiting = Promise.withResolvers<number>()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${more}\r\n`)
      return waiting.promise
    },
    close: () => socket.end(),
  }
}

/** Number of answers by status. */
type Counts = ReadonlyMap<number, number>

/** Connections that send requests without a pause until `stop`. */
export async function startCrowd(
  base: string,
  paths: readonly string[],
  connections: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ stop(): Promise<Counts> }> {
  const url = new URL(base)
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(url, headers)))
  const counts = new Map<number, number>()
  let isOver = false
  const work = lines.map(async (line, at) => {
    try {
      while (!isOver) {
        const status = await line.ask(paths[at % paths.length] ?? '/')
        counts.set(status, (counts.get(status) ?? 0) + 1)
      }
    } catch {
      if (!isOver) counts.set(0, (counts.get(0) ?? 0) + 1)
    }
  })
  return {
    stop: async () => {
      isOver = true
      for (const line of lines) line.close()
      await Promise.all(work)
      return counts
    },
  }
}
