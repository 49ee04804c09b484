import { ask as askElastic, readParts } from './ask-elastic.ts'

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
  readonly changed?: (source: Readonly<Record<string, unknown>>) => object
}

const FINGERPRINT = 'of an older one'

/** Rebuilds an index with another shape, but the same name, aliases, documents, ids and versions. */
export async function ageIndex(url: string, name: string, ageing: Ageing): Promise<void> {
  const ask = <T>(method: string, path: string, body?: object) => askElastic<T>(method, `${url}/${path}`, body)
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
  for await (const hits of readParts(url, name)) {
    const lines = hits.flatMap(({ _id, _version, _source }) => [
      { index: { _index: temporary, _id, version: _version, version_type: 'external' } },
      { ..._source, ...ageing.fields, ...ageing.changed?.(_source) },
    ])
    const { errors } = await ask<{ errors: boolean }>('POST', '_bulk', lines)
    if (errors) throw new Error(`${name} cannot be aged.`)
  }
  await ask('POST', `${temporary}/_refresh`)
  await ask('PUT', `${temporary}/_settings`, { 'index.blocks.write': true })
  await ask('DELETE', name)
  await ask('POST', `${temporary}/_clone/${name}?wait_for_active_shards=1`, {
    settings: { 'index.blocks.write': null },
    aliases: found.aliases,
  })
  await ask('DELETE', temporary)
  // Older versions kept no inventory. An inventory would show that this is another index.
  const meta = `${/^test-[^-]+-[^-]+/.exec(name)?.[0]}-meta/_doc`
  for (const id of ['checkpoint', 'published']) {
    type Stored = { readonly _version: number; readonly _source: { readonly body: string } }
    const { _source, _version } = await ask<Stored>('GET', `${meta}/${id}`)
    const { inventory: _, ...older } = JSON.parse(_source.body)
    const versioned = id === 'published' ? `&version=${_version}&version_type=external_gte` : ''
    await ask('PUT', `${meta}/${id}?refresh=true${versioned}`, { body: JSON.stringify(older) })
  }
}
