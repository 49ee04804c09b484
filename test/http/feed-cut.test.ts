import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '#test/support/wait.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { type FeedEvent, feedEvents } from '../support/processes/feed-client.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

/** A reader on a real connection that is slower than the rows arrive. */

setDefaultTimeout(600_000)

const FROM = 760
const TO = 1_200
/** Blocks per batch: two batches have more rows than may wait for a reader. */
const RUN = 40
const LIST = '/api/contract/get-contract-tx?contract=token.iost&numbers=string&format=sse'

/** A Unix socket, whose buffers are smaller than the data. TCP buffers grow to several megabytes. */
async function opening(path: string, service: Service, query = '') {
  const socket = connect(path)
  const parts: Buffer[] = []
  const begun = Promise.withResolvers<void>()
  const closed = new Promise<void>(done => socket.once('close', () => done()))
  socket.on('data', (bytes: Buffer) => {
    parts.push(bytes)
    begun.resolve()
  })
  socket.write(`GET ${LIST}${query}&apikey=${service.key} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  await begun.promise
  return {
    socket,
    /** The events of the answer, once it has ended. */
    events: async (): Promise<readonly FeedEvent[]> => {
      await closed
      const bytes = Buffer.concat(parts)
      const begin = bytes.indexOf('\r\n\r\n') + 4
      const events: FeedEvent[] = []
      for await (const event of feedEvents(new Blob([chunksOf(bytes.subarray(begin))]).stream())) events.push(event)
      return events
    },
  }
}

/** The content of a chunked body, which must be complete. */
function chunksOf(body: Buffer): Buffer<ArrayBuffer> {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const line = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.toString('latin1', at, line), 16)
    if (length === 0) return Buffer.concat(parts)
    parts.push(body.subarray(line + 2, line + 2 + length))
    at = line + 2 + length + 2
    if (!(at < body.length)) throw new Error('The body broke off.')
  }
}

test('feeds: a reader too slow for the waiting rows gets an id to continue from, and continues there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'iostlens-cut-'))
  const path = join(folder, 'socket')
  const { store, destroy } = await temporarySqlite()
  const service = serviceOn(store)
  service.app.listen({ unix: path })
  const blocks = await recordedBlocks()
  const runs = [blocks.slice(0, FROM + 1)]
  for (let at = FROM + 1; at <= TO; at += RUN) runs.push(blocks.slice(at, Math.min(at + RUN, TO + 1)))
  let slow: Awaited<ReturnType<typeof opening>> | undefined
  const brisk: FeedEvent[] = []
  const leaving = new AbortController()
  let reading: Promise<unknown> | undefined
  await commitRuns(store, runs, {
    lib: TO,
    onCommitted: async height => {
      if (slow === undefined) {
        slow = await opening(path, service)
        slow.socket.pause()
        const { body } = await service.ask(`${LIST}&apikey=${service.key}`, { signal: leaving.signal })
        const read = async () => {
          for await (const event of feedEvents(body)) brisk.push(event)
        }
        reading = read().catch(error => leaving.signal.aborted || Promise.reject(error))
        return
      }
      // Each height is sent to all readers at once.
      await until(() => Number(JSON.parse(brisk.at(-1)?.data ?? '{"block":0}').block) >= height - 5)
    },
  })
  slow?.socket.resume()
  const events = (await slow?.events()) ?? []
  const rows = events.slice(0, -1)
  const { event, data = '' } = events.at(-1) ?? {}
  const last = rows.at(-1)?.id
  expect([event, JSON.parse(data)]).toEqual([
    'cut',
    {
      // The id of the last row that is sent at once has a mark of the chain behind its number.
      seq: Number.parseInt(last ?? '', 10),
      message: expect.stringMatching(
        /^Rows came faster than they were read\. Continue with Last-Event-ID \d+@\d+\.\w+\.$/,
      ),
    },
  ])
  expect(rows).toEqual(brisk.slice(0, rows.length))
  expect(rows.length).toBeLessThan(brisk.length)
  const again = await service.ask(`${LIST}&apikey=${service.key}`, {
    headers: { 'last-event-id': last ?? '' },
    signal: leaving.signal,
  })
  for await (const next of feedEvents(again.body)) {
    expect(next).toEqual(brisk[rows.length] as FeedEvent)
    break
  }
  leaving.abort()
  await reading
  await service.app.stop(true)
  await destroy()
  await rm(folder, { recursive: true })
})
