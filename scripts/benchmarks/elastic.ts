import { untilTaken } from './until-taken.ts'

/** Size of one bulk request in bytes, and the number of requests in flight, as in the loader. */
const BYTES = 4_000_000
const SENDERS = 3

/** The plain client of a benchmark: Bun's fetch, which keeps connections alive. */
export type Elastic = {
  readonly url: string
  /** Resolves with the body of the response as text; throws unless the status is a success. */
  readonly send: (method: string, path: string, body?: string) => Promise<string>
  readonly json: <T>(method: string, path: string, body?: object) => Promise<T>
}

export const elasticAt = (url: string): Elastic => {
  const once = (method: string, path: string, body: string | undefined): Promise<Response> =>
    fetch(url + path, {
      method,
      ...(body === undefined
        ? {}
        : {
            body,
            headers: { 'content-type': path.includes('_bulk') ? 'application/x-ndjson' : 'application/json' },
          }),
    })
  const send = async (method: string, path: string, body?: string): Promise<string> => {
    const answer = await untilTaken(() => once(method, path, body))
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`)
    return text
  }
  return {
    url,
    send,
    json: async (method, path, body) =>
      JSON.parse(await send(method, path, body === undefined ? undefined : JSON.stringify(body))),
  }
}

/**
 * Sends bulk bodies, several at once, and refreshes `indices`; resolves with the seconds from the first
 * request to the refresh.
 */
export const sendBodies = async (elastic: Elastic, bodies: Iterable<string>, indices: string): Promise<number> => {
  const start = performance.now()
  const source = bodies[Symbol.iterator]()
  const sender = async (): Promise<void> => {
    for (let next = source.next(); !next.done; next = source.next()) {
      const text = await elastic.send('POST', '/_bulk?filter_path=errors,items.*.error.reason', next.value)
      if (text.includes('"errors":true')) throw new Error(`A bulk was refused: ${text.slice(0, 500)}`)
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
  await elastic.send('POST', `/${indices}/_refresh`)
  return (performance.now() - start) / 1_000
}

/** Documents as bulk bodies of the usual size. */
export function* bodiesOf(
  index: string,
  docs: Iterable<{ readonly id: string; readonly source: string }>,
): Generator<string> {
  let body = ''
  for (const { id, source } of docs) {
    body += `{"create":{"_index":"${index}","_id":${JSON.stringify(id)}}}\n${source}\n`
    if (body.length < BYTES) continue
    yield body
    body = ''
  }
  if (body !== '') yield body
}

/** Deletes every index with a prefix. */
export const removeIndices = async (elastic: Elastic, prefix: string): Promise<void> => {
  const names = Object.keys(await elastic.json<object>('GET', `/${prefix}*`))
  // The request line may have at most 4 KiB.
  for (let at = 0; at < names.length; at += 40) await elastic.send('DELETE', `/${names.slice(at, at + 40).join(',')}`)
}

/** Size of the primary shards of indices on disk. */
export const bytesOf = async (elastic: Elastic, indices: string): Promise<number> => {
  type Stats = {
    readonly _all: { readonly primaries: { readonly store: { readonly size_in_bytes: number } } }
  }
  const { _all } = await elastic.json<Stats>('GET', `/${indices}/_stats/store`)
  return _all.primaries.store.size_in_bytes
}
