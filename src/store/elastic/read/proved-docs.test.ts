import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from '../client/connection.ts'
import type { ElasticConnection } from '../client/request.ts'
import { getProvedDocs } from './proved-reads.ts'

type Wanted = { readonly _index: string; readonly _id: string }

/** The documents of each request. */
const requests: (readonly Wanted[])[] = []
let server: ReturnType<typeof Bun.serve>
let connection: ElasticConnection
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    fetch: async request => {
      const { docs } = (await request.json()) as { readonly docs: readonly Wanted[] }
      requests.push(docs)
      return Response.json(
        { docs: docs.map(doc => ({ ...doc, _version: 1, found: true, _source: { id: doc._id } })) },
        { headers: { 'x-elastic-product': 'Elasticsearch' } },
      )
    },
  })
  connection = connect({ url: server.url.origin })
})
afterAll(async () => {
  await connection.close()
  await server.stop(true)
})

test('proved documents: each request proves the indices of its documents, whatever their number', async () => {
  const refs = Array.from({ length: 2_500 }, (_, n) => ({ index: `i${n % 300}`, id: `d${n}` }))
  const last = Object.fromEntries(refs.map(({ index }) => [index, ['last', 1] as const]))
  const found = await getProvedDocs({ connection, last }, refs)
  expect(found.map(got => got?.source['id'])).toEqual(refs.map(({ id }) => id))
  for (const docs of requests) {
    const proved = new Set(docs.filter(({ _id }) => _id === 'last').map(({ _index }) => _index))
    expect(docs.filter(({ _index }) => !proved.has(_index))).toEqual([])
  }
})
