import type { Index } from '#indices/define.ts'
import { encode } from '#store/elastic/schema/documents.ts'
import { shapeOf } from '#store/elastic/schema/mappings.ts'
import { untilTaken } from './until-taken.ts'

/** Bytes of one bulk, and how many are sent at once: what the loader's own sender does. */
const BYTES = 4_000_000
const SENDERS = 3

/** The plain client of a benchmark: Bun's fetch, which keeps connections alive. */
export type Elastic = {
  readonly url: string
  /** The answer as text, whatever it is; throws on a status that is no success. */
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
            headers: {
              'content-type': path.includes('_bulk') ? 'application/x-ndjson' : 'application/json',
            },
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

/** Sends bulk bodies, several at once, and makes `indices` searchable; seconds from the first to the refresh. */
export const sendBodies = async (
  elastic: Elastic,
  bodies: Iterable<string> | AsyncIterable<string>,
  indices?: string,
): Promise<number> => {
  const start = performance.now()
  const source = Symbol.asyncIterator in bodies ? bodies[Symbol.asyncIterator]() : bodies[Symbol.iterator]()
  const sender = async (): Promise<void> => {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      const text = await elastic.send('POST', '/_bulk?filter_path=errors,items.*.error.reason', next.value)
      if (text.includes('"errors":true')) throw new Error(`A bulk was refused: ${text.slice(0, 500)}`)
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
  if (indices !== undefined) await elastic.send('POST', `/${indices}/_refresh`)
  return (performance.now() - start) / 1_000
}

/** Documents as bulk bodies of the usual size. */
export function* bodiesOf(
  index: string,
  docs: Iterable<{ readonly id?: string; readonly source: string }>,
): Generator<string> {
  let body = ''
  for (const { id, source } of docs) {
    body += `{"create":{"_index":"${index}"${id === undefined ? '' : `,"_id":${JSON.stringify(id)}`}}}\n${source}\n`
    if (body.length < BYTES) continue
    yield body
    body = ''
  }
  if (body !== '') yield body
}

/** An index as the store makes it, or with something else instead. */
export type Variant = {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly properties?: Readonly<Record<string, unknown>>
  readonly mappings?: Readonly<Record<string, unknown>>
}

export const createLike = async (
  elastic: Elastic,
  name: string,
  { like, settings, properties, mappings }: Variant & { readonly like: Index },
): Promise<void> => {
  const shape = shapeOf(like)
  await elastic.json('PUT', `/${name}`, {
    settings: {
      index: {
        ...shape.settings.index,
        number_of_replicas: 0,
        // Sizes are asked for right after a merge; else they may be ten seconds old.
        'store.stats_refresh_interval': '0s',
        ...settings,
      },
    },
    mappings: {
      dynamic: 'strict',
      properties: { ...shape.mappings.properties, ...properties },
      ...mappings,
    },
  })
}

/** A document's `_source` as the store writes it. */
export const sourceOf = (index: Index, doc: { readonly id: string }): string =>
  encode(index, doc, index.kind === 'state' ? 1 : undefined)

/** Merges an index to one segment; bytes on disk. */
export const mergedBytes = async (elastic: Elastic, index: string): Promise<number> => {
  await elastic.send('POST', `/${index}/_forcemerge?max_num_segments=1`)
  // Lets go of what was merged; merging by force has flushed.
  await elastic.send('POST', `/${index}/_refresh`)
  return bytesOf(elastic, index)
}

export const bytesOf = async (elastic: Elastic, index: string): Promise<number> => {
  type Stats = {
    readonly _all: { readonly primaries: { readonly store: { readonly size_in_bytes: number } } }
  }
  const { _all } = await elastic.json<Stats>('GET', `/${index}/_stats/store`)
  return _all.primaries.store.size_in_bytes
}

/** Waits until nothing is being merged any more, so that what is measured next is alone. */
export const calm = async (elastic: Elastic, indices: string, mostMs = 180_000): Promise<void> => {
  type Stats = { readonly _all: { readonly primaries: { readonly merges: { readonly current: number } } } }
  const until = performance.now() + mostMs
  while (performance.now() < until) {
    const { _all } = await elastic.json<Stats>('GET', `/${indices}/_stats/merge`)
    if (_all.primaries.merges.current === 0) return
    await Bun.sleep(500)
  }
}

/** Removes every index of a prefix. */
export const removeIndices = async (elastic: Elastic, prefix: string): Promise<void> => {
  const names = Object.keys(await elastic.json<object>('GET', `/${prefix}*`))
  // A request's first line holds 4 KiB.
  for (let at = 0; at < names.length; at += 40)
    await elastic.send('DELETE', `/${names.slice(at, at + 40).join(',')}`)
}
