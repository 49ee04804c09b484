/** Asks Elasticsearch past all of the store's own code; throws unless the status is a good one. */
export const ask = async <T>(method: string, url: string, body?: object): Promise<T> => {
  const answer = await fetch(url, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}
