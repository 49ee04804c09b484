import { feedMessages } from '../support/processes/feed-client.ts'
import { type AnsweredRow, branchNow, busyLists, type TrueList } from './lists.ts'
import type { ForkStand } from './stand.ts'

type ReaderOptions = {
  readonly ask: (path: string, init: RequestInit) => Promise<Response>
  readonly key: () => string
  readonly random: () => number
  readonly onEvent?: () => void
  /** Whether the service may have closed or refused the connection. */
  readonly isAway?: () => boolean
  /** Resolves when the client may connect. */
  readonly ready?: () => Promise<void>
  /** Called with the rows that a dropped event removes, in order, unless it begins the connection. */
  readonly onDropped?: (rows: readonly AnsweredRow[]) => void
}

export type HeadReader = ReturnType<typeof headReader>

/**
 * A client of a feed with head=1 that reconnects after random numbers of events, and checks each event
 * against the events before.
 */
export function headReader(list: TrueList, { ask, key, random, onEvent, isAway, ready, onDropped }: ReaderOptions) {
  /** Irreversible rows since the feed was first opened. */
  const rows: AnsweredRow[] = []
  /** The number of events by name. */
  const seen: Record<string, number> = {}
  /** Rows of blocks above the irreversible ones, according to the events. */
  let packed: AnsweredRow[] = []
  let id: string | undefined
  let isStopped = false
  /** Whether the connection has sent an event. */
  let isBegun = false
  let connection = new AbortController()
  const opened = Promise.withResolvers<void>()
  const wrong = (what: string, data: unknown): Error =>
    new Wrong(`${list.action} ${JSON.stringify(list.params)}, id ${id}: ${what}: ${JSON.stringify(data)}`)
  const takeRow = (row: AnsweredRow, seq: number): void => {
    const last = rows.at(-1)
    if (row['status'] !== 'IRREVERSIBLE' || row['seq'] !== seq) throw wrong('no irreversible row', row)
    if (last !== undefined && seq !== Number(last['seq']) + 1) throw wrong('lost or doubled', row)
    const [was] = packed.splice(0, 1)
    if (typeof row['id'] !== 'string') throw wrong('no id', row)
    // Packed rows become irreversible in the order in which they were sent, and keep their ids.
    if (was !== undefined && !Bun.deepEquals({ ...row, seq: undefined, status: 'PACKED' }, was))
      throw wrong(`takes the place of ${JSON.stringify(was)}`, row)
    rows.push(row)
  }
  const takePacked = (row: AnsweredRow): void => {
    if (row['status'] !== 'PACKED' || 'seq' in row) throw wrong('no packed row', row)
    if (typeof row['id'] !== 'string' || packed.some(each => each['id'] === row['id'])) throw wrong('no own id', row)
    const before = packed.at(-1) ?? rows.at(-1)
    if (before !== undefined && heightOf(row) < heightOf(before)) throw wrong('out of order', row)
    packed.push(row)
  }
  const takeDropped = (from: number): void => {
    const gone = packed.filter(row => heightOf(row) >= from)
    packed = packed.filter(row => heightOf(row) < from)
    if (isBegun) onDropped?.(gone)
  }
  const take = (event: string, data: AnsweredRow): void => {
    seen[event] = (seen[event] ?? 0) + 1
    if (event === 'message') takeRow(data, Number(id?.split(/[-@]/)[0]))
    else if (event === 'packed') takePacked(data)
    else if (event === 'dropped') takeDropped(Number(data['from_block']))
    // The store, or its list of keys, answered more slowly than the clock of the test allows.
    else if (event !== 'end' || ![5030, 5040].includes(Number(data['code']))) throw wrong(event, data)
  }
  /** Sometimes a client keeps only the number of its last row, and forgets packed rows. */
  const position = (): readonly [string, Readonly<Record<string, string>>] => {
    const last = rows.at(-1)
    if (id === undefined) return ['', {}]
    if (last === undefined || random() < 0.95) return ['', { 'last-event-id': id }]
    packed = []
    id = String(last['seq'])
    return [`&start_seq=${Number(last['seq']) + 1}`, {}]
  }
  const connect = async (): Promise<void> => {
    const { signal } = connection
    await ready?.()
    const [start, headers] = position()
    const query = new URLSearchParams({ ...list.params, head: '1', format: 'sse', apikey: key() })
    const response = await ask(`/api/${list.module}/get-${list.action}?${query}${start}`, { headers, signal })
    if (response.status === 503 && isAway?.()) throw new Error('The service has just begun.')
    if (response.status !== 200) throw wrong(String(response.status), await response.text())
    // Half of the connections end within 100 events. Some last longer than the packed rows of any branch, which come
    // again on each connection.
    const part = random()
    let left = 1 + Math.floor((100 * part) / (1 - part))
    isBegun = false
    for await (const message of feedMessages(response.body)) {
      id = message.id ?? id
      opened.resolve()
      if (message.data === '') continue
      take(message.event, JSON.parse(message.data))
      isBegun = true
      onEvent?.()
      left -= 1
      if (left === 0) return
    }
  }
  const run = async (): Promise<void> => {
    while (!isStopped) {
      connection = new AbortController()
      const { signal } = connection
      // The body of a disconnecting client ends with an error.
      await connect().catch(async error => {
        if (signal.aborted) return
        if (error instanceof Wrong || !isAway?.()) throw error
        await Bun.sleep(20)
      })
    }
  }
  const done = run()
  return {
    ...{ list, rows, seen },
    /** Rejects with the first error. */
    done,
    packed: (): readonly AnsweredRow[] => packed,
    /** Resolves after the first event of the first connection. */
    open: Promise.race([opened.promise, done]),
    drop: () => connection.abort(),
    stop: async () => {
      isStopped = true
      connection.abort()
      await done
    },
  }
}

/** An event that contradicts the events before. */
class Wrong extends Error {}

/** The block of a row. Rows of the list of blocks have it as `number`. */
const heightOf = (row: AnsweredRow): number => Number(row['block'] ?? row['number'])

/** Clients of busy lists of a stand, which follow them from now on. */
export async function followLists(stand: ForkStand, random: () => number, more: Partial<ReaderOptions> = {}) {
  const ask: ReaderOptions['ask'] = (path, init) => stand.service.ask(path, init)
  const key = () => stand.service.key
  const readers = busyLists(stand).map(list => headReader(list, { ask, key, random, ...more }))
  await Promise.all(readers.map(({ open }) => open))
  return readers
}

/** The maximum number of checks. Each lets all pending work finish, so a further check would change nothing. */
const MAX_LOOKS = 20_000

/** Waits until every feed has the rows above the base of the forks. Throws if one is still missing after many checks. */
export async function feedsSettled(stand: ForkStand, readers: readonly HeadReader[]): Promise<void> {
  const { stored, above } = await branchNow(stand)
  for (const { list, rows, packed, done } of readers) {
    const expected = [stored.flatMap(list.of), above?.flatMap(list.of)]
    // Packed rows are only known while the branch is.
    const shown = () => [rows.map(list.shown), above && packed().map(list.shown)]
    let hasFailed = false
    void done.catch(() => {
      hasFailed = true
    })
    const isSo = () => rows.length === expected[0]?.length && Bun.deepEquals(shown(), expected)
    for (let looks = 0; !isSo() && !hasFailed; looks += 1) {
      if (looks === MAX_LOOKS) {
        const [left, wanted] = [shown(), expected].map(each => each.map(some => some?.slice(-3)))
        throw new Error(`${list.action}: ${JSON.stringify(left)} instead of ${JSON.stringify(wanted)}`)
      }
      // The steps are short, since a store that does not answer for five seconds by this clock ends the feeds.
      await stand.clock.pass(10)
      await Bun.sleep(1)
    }
    if (hasFailed) await done
  }
}
