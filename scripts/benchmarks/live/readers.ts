import { parseArgs } from 'node:util'

/**
 * Holds many feeds open over connections of their own, until its stdin ends: `readers.ts --url URL --key KEY
 * --count N PATH…`. Prints `open` when all are open, then for each line of stdin the number of events
 * received so far.
 */

const { values, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: { url: { type: 'string' }, key: { type: 'string' }, count: { type: 'string' } },
})
const { hostname, port } = new URL(values.url ?? '')
const count = Number(values.count)
/** Number of feeds opened at a time. */
const OPENING = 30
/** Milliseconds before a feed refused by a busy service is tried again. */
const AGAIN_MS = 200

const tally = { events: 0, ended: 0 }
/** Text that each event contains once. The chunk sizes between the data cannot be mistaken for it. */
const MARK = Buffer.from('\ndata:')

/** Opens one feed; resolves with the status code when the headers have arrived. */
const once = async (path: string): Promise<number> => {
  const begun = Promise.withResolvers<number>()
  let hasBegun = false
  let isOpen = false
  let at = 0
  const connection = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: socket => {
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-API-Key: ${values.key}\r\nAccept: text/event-stream\r\n\r\n`,
        )
      },
      data: (_socket, bytes) => {
        if (!hasBegun) {
          hasBegun = true
          begun.resolve(Number(bytes.subarray(9, 12).toString('latin1')))
        }
        for (const byte of bytes) {
          at = byte === MARK[at] ? at + 1 : byte === MARK[0] ? 1 : 0
          if (at < MARK.length) continue
          tally.events += 1
          at = 0
        }
      },
      close: () => {
        if (isOpen) tally.ended += 1
      },
    },
  })
  const status = await begun.promise
  if (status === 200) isOpen = true
  else connection.end()
  return status
}

const open = async (path: string): Promise<void> => {
  for (;;) {
    const status = await once(path)
    if (status === 200) return
    if (status !== 503) throw new Error(`A feed was refused with ${status}.`)
    await Bun.sleep(AGAIN_MS)
  }
}

for (let from = 0; from < count; from += OPENING) {
  const group = Array.from({ length: Math.min(OPENING, count - from) }, (_, at) =>
    open(paths[(from + at) % paths.length] ?? ''),
  )
  await Promise.all(group)
}
console.log('open')
for await (const _ of console) console.log(JSON.stringify(tally))
process.exit()
