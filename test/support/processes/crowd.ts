/** A keep-alive connection. `ask` returns the status of the answer, and fails when the connection closes. */
async function openLine(url: URL, headers: Readonly<Record<string, string>>) {
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
    ask: (path: string): Promise<number> => {
      waiting = Promise.withResolvers<number>()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${more}\r\n`)
      return waiting.promise
    },
    close: () => socket.end(),
  }
}

/** Connections that send requests without a pause until `stop`, which returns the number of answers by status. */
export async function startCrowd(
  base: string,
  paths: readonly string[],
  connections: number,
  headers: Readonly<Record<string, string>>,
) {
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(new URL(base), headers)))
  const counts = new Map<number, number>()
  let isOver = false
  const work = lines.map(async (line, at) => {
    while (!isOver) {
      const status = await line.ask(paths[at % paths.length] ?? '/').catch(() => 0)
      if (status !== 0 || !isOver) counts.set(status, (counts.get(status) ?? 0) + 1)
      if (status === 0) return
    }
  })
  return {
    stop: async (): Promise<ReadonlyMap<number, number>> => {
      isOver = true
      for (const line of lines) line.close()
      await Promise.all(work)
      return counts
    },
  }
}
