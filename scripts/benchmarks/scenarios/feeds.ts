import { readAnswer, type Service } from '../place.ts'
import { readCpu } from '../processes.ts'
import type { TableRow } from '../report.ts'

const SECONDS = 30
/** Time between the opening of the last feed and the measurement, for compilers and collectors to finish. */
const SETTLE_MS = 5_000
/** Number of feeds opened at a time. */
const OPENING = 30

/** The cost of readers of feeds, each over a connection of its own: of one of many accounts each, or all of one list. */
export async function measureFeeds(readers: number, start: () => Promise<Service>): Promise<readonly TableRow[]> {
  const rows: TableRow[] = []
  for (const list of ['accounts', 'blocks'] as const)
    for (const head of ['', '&head=1']) {
      const service = await start()
      const paths = await findPaths(service, list)
      const name = `of ${list}${head === '' ? '' : ', head=1'}`
      rows.push(
        await measureReaders(
          service,
          name,
          Array.from({ length: readers }, (_, at) => `${paths[at % paths.length]}format=sse${head}`),
        ),
      )
      await service.stop()
    }
  return rows
}

/** Paths of feeds, up to the parameters that all have. */
async function findPaths(service: Service, list: 'accounts' | 'blocks'): Promise<readonly string[]> {
  if (list === 'blocks') return ['/api/base/get-block-list?']
  type Wealth = { readonly wealth: readonly { readonly account: string }[] }
  const { wealth } = await readAnswer<Wealth>(service, 'module=base&action=get-wealth-list&size=100')
  return wealth.map(({ account }) => `/api/account/get-account-tx?account=${encodeURIComponent(account)}&`)
}

async function measureReaders(service: Service, name: string, paths: readonly string[]): Promise<TableRow> {
  const { pid, memory } = service
  await Bun.sleep(1_000)
  const before = memory.at(-1) ?? 0
  const tally = { events: 0, ended: 0 }
  const feeds: { end(): void }[] = []
  for (let at = 0; at < paths.length; at += OPENING)
    feeds.push(...(await Promise.all(paths.slice(at, at + OPENING).map(path => openFeed(service, path, tally)))))
  await Bun.sleep(SETTLE_MS)
  const [events, cpu] = [tally.events, (await readCpu(pid)) ?? 0]
  await Bun.sleep(SECONDS * 1_000)
  const [seen, spent] = [tally.events - events, ((await readCpu(pid)) ?? 0) - cpu]
  if (tally.ended > 0) throw new Error(`${tally.ended} feeds ${name} were ended.`)
  for (const feed of feeds) feed.end()
  const most = Math.max(...memory)
  const readers = paths.length
  return {
    ...{ feeds: name, readers, 'events a second each': seen / SECONDS / readers },
    ...{ 'MB before': before, 'MB at most': most, 'KB a reader': (1_000 * (most - before)) / readers },
    ...{ 'CPU %': (100 * spent) / SECONDS, 'µs a reader and second': (1e6 * spent) / SECONDS / readers },
    'µs an event': (1e6 * spent) / seen,
  }
}

/** Text that each event contains once. */
const MARK = Buffer.from('\ndata:')

/** Counts events in bytes that arrive in pieces. */
function createCounter(): (bytes: Uint8Array) => number {
  let at = 0
  return bytes => {
    let count = 0
    for (const byte of bytes) {
      at = byte === MARK[at] ? at + 1 : byte === MARK[0] ? 1 : 0
      if (at < MARK.length) continue
      count += 1
      at = 0
    }
    return count
  }
}

type Tally = { events: number; ended: number }

/** Opens a feed over a connection of its own, again if a busy service refuses it. */
async function openFeed(
  { url, key }: Pick<Service, 'url' | 'key'>,
  path: string,
  tally: Tally,
): Promise<{ end(): void }> {
  const { hostname, port, host } = new URL(url)
  const begun = Promise.withResolvers<string>()
  const count = createCounter()
  let isOpen = false
  const connection = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: socket => {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\nAccept: text/event-stream\r\n\r\n`)
      },
      data: (_socket, bytes) => {
        // The first bytes are `HTTP/1.1 200`; later calls change nothing.
        begun.resolve(bytes.subarray(9, 12).toString('latin1'))
        tally.events += count(bytes)
      },
      close: () => {
        if (isOpen) tally.ended += 1
      },
    },
  })
  const status = await begun.promise
  isOpen = status === '200'
  const end = (): void => {
    isOpen = false
    connection.end()
  }
  if (isOpen) return { end }
  end()
  if (status !== '503') throw new Error(`A feed was refused with ${status}.`)
  await Bun.sleep(200)
  return openFeed({ url, key }, path, tally)
}
