/** Settings and mapping of an index. */
type Shape = {
  readonly settings: { readonly index: Record<string, unknown> }
  readonly mappings: {
    readonly dynamic: string
    readonly _meta: { readonly schema: number; readonly fingerprint: string }
    readonly properties: Record<string, object>
  }
}

export type Ageing = {
  readonly settings?: Readonly<Record<string, unknown>>
  /** Fields with a different mapping, and fields that no longer exist. */
  readonly properties?: Readonly<Record<string, object>>
  /** Fields that documents had in the older version. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Changes a document into its older form. */
  readonly changed?: (source: Readonly<Record<string, unknown>>) => object
}

type Hit = { readonly _id: string; readonly _version: number; readonly _source: Record<string, unknown> }

const FINGERPRINT = 'of an older one'

/** Bulk bodies are sent as lines. */
const textOf = (body: object): string =>
  Array.isArray(body) ? body.map(line => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(body)

type Ask = <T>(method: string, path: string, body?: object) => Promise<T>

const askingAt =
  (url: string): Ask =>
  async <T>(method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/${path}`, {
      method,
      ...(body === undefined ? {} : { body: textOf(body), headers: { 'content-type': 'application/json' } }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }

/**
 * Rebuilds an index as an older version would have created it: with another shape, but with the same name,
 * aliases, documents, ids and versions.
 */
export async function ageIndex(url: string, name: string, ageing: Ageing): Promise<void> {
  const ask = askingAt(url)
  type Found = Readonly<Record<string, Shape & { readonly aliases: object }>>
  const found = (await ask<Found>('GET', name))[name]
  if (found === undefined) throw new Error(`There is no ${name}.`)
  const temporary = `${name}-aged`
  const { sort, refresh_interval } = found.settings.index as { sort?: object; refresh_interval: string }
  await ask('PUT', temporary, {
    settings: {
      index: {
        number_of_shards: 1,
        number_of_replicas: 0,
        refresh_interval,
        ...(sort === undefined ? {} : { sort }),
        ...ageing.settings,
      },
    },
    mappings: {
      ...found.mappings,
      _meta: { ...found.mappings._meta, fingerprint: FINGERPRINT },
      properties: { ...found.mappings.properties, ...ageing.properties },
    },
  })
  await ask('POST', `${name}/_refresh`)
  type Answer = { readonly _scroll_id: string; readonly hits: { readonly hits: readonly Hit[] } }
  let part = await ask<Answer>('POST', `${name}/_search?scroll=1m`, { size: 2_000, version: true })
  while (part.hits.hits.length > 0) {
    const lines = part.hits.hits.flatMap(({ _id, _version, _source }) => [
      { index: { _index: temporary, _id, version: _version, version_type: 'external' } },
      { ..._source, ...ageing.fields, ...ageing.changed?.(_source) },
    ])
    const { errors } = await ask<{ errors: boolean }>('POST', '_bulk', lines)
    if (errors) throw new Error(`${name} cannot be aged.`)
    part = await ask<Answer>('POST', '_search/scroll', { scroll: '1m', scroll_id: part._scroll_id })
  }
  await ask('POST', `${temporary}/_refresh`)
  await ask('PUT', `${temporary}/_settings`, { 'index.blocks.write': true })
  await ask('DELETE', name)
  await ask('POST', `${temporary}/_clone/${name}?wait_for_active_shards=1`, {
    settings: { 'index.blocks.write': null },
    aliases: found.aliases,
  })
  await ask('DELETE', temporary)
  await forgetInventory(ask, name)
}

/** Older versions kept no inventory. An inventory would show that this is another index. */
async function forgetInventory(ask: Ask, name: string): Promise<void> {
  const meta = `${/^test-[^-]+-[^-]+/.exec(name)?.[0]}-meta/_doc`
  for (const id of ['checkpoint', 'published']) {
    const { _source, _version } = await ask<Hit & { readonly _source: { readonly body: string } }>(
      'GET',
      `${meta}/${id}`,
    )
    const { inventory: _, ...older } = JSON.parse(_source.body)
    const versioned = id === 'published' ? `&version=${_version}&version_type=external_gte` : ''
    await ask('PUT', `${meta}/${id}?refresh=true${versioned}`, { body: JSON.stringify(older) })
  }
}
