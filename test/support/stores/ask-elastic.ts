/** Sends a request to Elasticsearch without the store's code, an array as lines. Throws unless the status is 2xx. */
export async function ask<T>(method: string, url: string, body?: object): Promise<T> {
  const text = Array.isArray(body) ? body.map(line => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(body)
  const answer = await fetch(url, {
    method,
    ...(body === undefined ? {} : { body: text, headers: { 'content-type': 'application/json' } }),
  })
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

type Hit = { readonly _id: string; readonly _version: number; readonly _source: Record<string, unknown> }
type Part = { readonly _scroll_id: string; readonly hits: { readonly hits: readonly Hit[] } }

/** All documents of an index, in parts. A server keeps at most 500 open scrolls. */
export async function* readParts(url: string, index: string): AsyncGenerator<readonly Hit[], void> {
  let part = await ask<Part>('POST', `${url}/${index}/_search?scroll=1m`, { size: 5_000, version: true })
  while (part.hits.hits.length > 0) {
    yield part.hits.hits
    part = await ask<Part>('POST', `${url}/_search/scroll`, { scroll: '1m', scroll_id: part._scroll_id })
  }
  await ask('DELETE', `${url}/_search/scroll/${part._scroll_id}`)
}
