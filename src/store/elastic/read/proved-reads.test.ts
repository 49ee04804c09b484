import { expect, test } from 'bun:test'
import { connect } from '../client/connection.ts'
import { OutOfDateCopy } from './consistent-read.ts'
import { getProvedDocs, searchHistory } from './proved-reads.ts'

type Connection = ReturnType<typeof connect>

/** The outcome of `work` at a server that gives these answers. */
async function workAt<T>(
  answer: (request: Request) => Promise<object>,
  work: (connection: Connection) => Promise<T>,
): Promise<T | Error> {
  const headers = { 'x-elastic-product': 'Elasticsearch' }
  const server = Bun.serve({ port: 0, fetch: async request => Response.json(await answer(request), { headers }) })
  const connection = connect({ url: server.url.origin })
  try {
    return await work(connection)
  } catch (error) {
    return error as Error
  } finally {
    await connection.close()
    await server.stop(true)
  }
}

const INDEX = 'iost-transactions-000000'
const twins = ['000000000002-000001', '000000000007-000001'].map(_id => ({ _id, _source: { hash8: 'hA' } }))
const search = { query: { terms: { hash8: ['hA', 'hB'] } }, size: 32, wanted: 2 }

test('searchHistory: a copy that lacks the last document is out of date unless its hits are all that was requested', async () => {
  for (const [over, isCurrent] of [
    [{}, true],
    // Hits that share a value do not hide that a copy lacks another value.
    [{ by: 'hash8' }, false],
    [{ by: 'hash8', wanted: 1, isEnough: () => true }, true],
    // A hit other than the requested one does not hide that the copy lacks the requested one.
    [{ by: 'hash8', wanted: 1, isEnough: () => false }, false],
  ] as const) {
    const last = { [INDEX]: ['000000000009-000000', 1] as const }
    const found = await workAt(
      async () => ({ hits: { hits: twins } }),
      connection => searchHistory({ connection, last }, [INDEX], { ...search, ...over }),
    )
    expect([over, found instanceof OutOfDateCopy]).toEqual([over, !isCurrent])
    if (isCurrent) expect<unknown>(found).toEqual(twins)
  }
})

test('getProvedDocs: each request proves the indices of its documents, whatever their number', async () => {
  type Wanted = { readonly _index: string; readonly _id: string }
  const requests: (readonly Wanted[])[] = []
  const refs = Array.from({ length: 2_500 }, (_, n) => ({ index: `i${n % 300}`, id: `d${n}` }))
  const last = Object.fromEntries(refs.map(({ index }) => [index, ['last', 1] as const]))
  const found = await workAt(
    async request => {
      const { docs } = (await request.json()) as { readonly docs: readonly Wanted[] }
      requests.push(docs)
      return { docs: docs.map(doc => ({ ...doc, _version: 1, found: true, _source: { id: doc._id } })) }
    },
    connection => getProvedDocs({ connection, last }, refs),
  )
  if (found instanceof Error) throw found
  expect(found.map(got => got?.source['id'])).toEqual(refs.map(({ id }) => id))
  for (const docs of requests) {
    const proved = new Set(docs.filter(({ _id }) => _id === 'last').map(({ _index }) => _index))
    expect(docs.filter(({ _index }) => !proved.has(_index))).toEqual([])
  }
})
