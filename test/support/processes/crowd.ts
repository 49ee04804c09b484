/** One connection that is kept open and asks one request after the other. */
type Line = { ask(path: string): Promise<number>; close(): void }

/** Opens a connection; `ask` gives the status of the answer. A connection that ends fails its request. */
const openLine = async (url: URL, headers: Readonly<Record<string, string>> = {}): Promise<Line> => {
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

/** How often each status was answered. */
export type Counts = ReadonlyMap<number, number>

export type Asked = {
  readonly counts: Counts
  /** Milliseconds, ascending. */
  readonly times: readonly number[]
  /** The same of the answers that were refusals (4xx, 5xx). */
  readonly refusalTimes: readonly number[]
}

const ascending = ({ times, refusalTimes }: Pick<Asked, 'times' | 'refusalTimes'>) => ({
  times: times.toSorted((a, b) => a - b),
  refusalTimes: refusalTimes.toSorted((a, b) => a - b),
})

/** Connections that ask without a pause until `stop`. */
export const startCrowd = async (
  base: string,
  paths: readonly string[],
  connections: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ stop(): Promise<Asked> }> => {
  const url = new URL(base)
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(url, headers)))
  const counts = new Map<number, number>()
  const times: number[] = []
  const refusalTimes: number[] = []
  let isOver = false
  const work = lines.map(async (line, at) => {
    try {
      while (!isOver) {
        const began = performance.now()
        const status = await line.ask(paths[at % paths.length] ?? '/')
        const ms = performance.now() - began
        times.push(ms)
        if (status >= 400) refusalTimes.push(ms)
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
      return { counts, ...ascending({ times, refusalTimes }) }
    },
  }
}

/** Asks a path at a steady pace, whatever the answers take; each request has a connection free for it. */
export const askSteadily = async (
  base: string,
  path: string,
  { count, everyMs }: { readonly count: number; readonly everyMs: number },
): Promise<Asked> => {
  const url = new URL(base)
  const counts = new Map<number, number>()
  const times: number[] = []
  const refusalTimes: number[] = []
  const free: Line[] = []
  const began = performance.now()
  const one = async (at: number): Promise<void> => {
    await Bun.sleep(Math.max(0, began + at * everyMs - performance.now()))
    const asked = performance.now()
    const line = free.pop() ?? (await openLine(url))
    const status = await line.ask(path).catch(() => 0)
    const ms = performance.now() - asked
    times.push(ms)
    if (status >= 400) refusalTimes.push(ms)
    counts.set(status, (counts.get(status) ?? 0) + 1)
    if (status !== 0) free.push(line)
  }
  await Promise.all(Array.from({ length: count }, (_, at) => one(at)))
  for (const line of free) line.close()
  return { counts, ...ascending({ times, refusalTimes }) }
}

/** Asks a path again and again, each time when the answer before has come. */
export const askInTurn = async (base: string, path: string, count: number): Promise<Counts> => {
  const line = await openLine(new URL(base))
  const counts = new Map<number, number>()
  for (let at = 0; at < count; at++) {
    const status = await line.ask(path)
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  line.close()
  return counts
}

/** The time that `share` of the answers did not exceed. */
export const quantile = (times: readonly number[], share: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
