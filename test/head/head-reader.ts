import { feedMessages } from '../support/processes/feed-client.ts'
import type { AnsweredRow, TrueList } from './truth.ts'

type Ask = (path: string, init: RequestInit) => Promise<Response>

/**
 * A client of a feed with head=1 that reconnects after random numbers of events, and checks each event
 * against the events before.
 */
export type HeadReader = {
  readonly list: TrueList
  /** Irreversible rows since the feed was first opened. */
  readonly rows: readonly AnsweredRow[]
  /** Rows of blocks above the irreversible ones, according to the events. */
  readonly packed: () => readonly AnsweredRow[]
  /** The number of events by name. */
  readonly seen: Readonly<Record<string, number>>
  /** Resolves after the first event of the first connection. */
  readonly open: Promise<unknown>
  /** Closes the connection. */
  drop(): void
  /** Rejects with the first error. */
  readonly done: Promise<void>
  stop(): void
}

export function headReader(
  list: TrueList,
  {
    ask,
    key,
    random,
    onEvent = () => undefined,
    isAway = () => false,
    ready = async () => undefined,
    onDropped = () => undefined,
  }: {
    readonly ask: Ask
    readonly key: () => string
    readonly random: () => number
    readonly onEvent?: () => void
    /** Whether the service may have closed or refused the connection. */
    readonly isAway?: () => boolean
    /** Resolves when the client may connect. */
    readonly ready?: () => Promise<void>
    /** Called with the rows that a dropped event removes, in order, unless it begins the connection. */
    readonly onDropped?: (rows: readonly AnsweredRow[]) => void
  },
): HeadReader {
  const rows: AnsweredRow[] = []
  const seen: Record<string, number> = {}
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
    // The id is that of the packed row. Packed rows become irreversible in the order in which they were sent.
    if (typeof row['id'] !== 'string' || (was !== undefined && was['id'] !== row['id']))
      throw wrong(`takes the place of ${JSON.stringify(was)}`, row)
    if (was !== undefined && !Bun.deepEquals({ ...row, seq: undefined, status: 'PACKED' }, was))
      throw wrong(`told before as ${JSON.stringify(was)}`, row)
    rows.push(row)
  }
  const take = (event: string, data: AnsweredRow): void => {
    seen[event] = (seen[event] ?? 0) + 1
    if (event === 'message') takeRow(data, Number(id?.split(/[-@]/)[0]))
    else if (event === 'packed') takePacked(data)
    else if (event === 'dropped') takeDropped(Number(data['from_block']))
    // The store answered more slowly than the clock of the test allows.
    else if (event !== 'end' || !SLOW.includes(data['code'])) throw wrong(event, data)
  }
  const takeDropped = (from: number): void => {
    const gone = packed.filter(row => heightOf(row) >= from)
    packed = packed.filter(row => heightOf(row) < from)
    if (isBegun) onDropped(gone)
  }
  const takePacked = (data: AnsweredRow): void => {
    if (data['status'] !== 'PACKED' || 'seq' in data) throw wrong('no packed row', data)
    if (typeof data['id'] !== 'string' || packed.some(row => row['id'] === data['id']))
      throw wrong('no id of its own', data)
    const before = packed.at(-1) ?? rows.at(-1)
    if (before !== undefined && heightOf(data) < heightOf(before)) throw wrong('out of order', data)
    packed.push(data)
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
    await ready()
    const [start, headers] = position()
    const query = new URLSearchParams({ ...list.params, head: '1', format: 'sse', apikey: key() })
    const response = await ask(`/api/${list.module}/get-${list.action}?${query}${start}`, { headers, signal })
    if (response.status === 503 && isAway()) throw new Error('The service has just begun.')
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
      onEvent()
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
        if (error instanceof Wrong || !isAway()) throw error
        await Bun.sleep(20)
      })
    }
  }
  const done = run()
  return {
    list,
    rows,
    packed: () => packed,
    seen,
    open: Promise.race([opened.promise, done]),
    drop: () => connection.abort(),
    done,
    stop: () => {
      isStopped = true
      connection.abort()
    },
  }
}

/** Codes of end events after which the store, or its list of keys, did not answer in the time of the test's clock. */
const SLOW: readonly unknown[] = [5030, 5040]

/** An event that contradicts the events before. */
class Wrong extends Error {}

/** The block of a row. Rows of the list of blocks have it as `number`. */
const heightOf = (row: AnsweredRow): number => Number(row['block'] ?? row['number'])
