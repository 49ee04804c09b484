import { expect, test } from 'bun:test'
import { connect } from '../client/connection.ts'
import { OutOfDateCopy } from './consistent-read.ts'
import { searchHistory } from './proved-reads.ts'

const INDEX = 'iost-transactions-000000'

/** The outcome of `work` at a copy that has some hits and lacks the last document of its index. */
async function atOldCopy<T>(
  hits: readonly object[],
  work: (proving: Parameters<typeof searchHistory>[0]) => Promise<T>,
): Promise<T | Error> {
  const server = Bun.serve({
    port: 0,
    fetch: () => Response.json({ hits: { hits } }, { headers: { 'x-elastic-product': 'Elasticsearch' } }),
  })
  const connection = connect({ url: server.url.origin })
  try {
    return await work({ connection, last: { [INDEX]: ['000000000009-000000', 1] } })
  } catch (error) {
    return error as Error
  } finally {
    await connection.close()
    await server.stop(true)
  }
}

const twins = ['000000000002-000001', '000000000007-000001'].map(_id => ({ _id, _source: { hash8: 'hA' } }))
const search = { query: { terms: { hash8: ['hA', 'hB'] } }, size: 32, wanted: 2 }

test('searchHistory: as many hits as requested need no proof', async () => {
  expect(await atOldCopy(twins, proving => searchHistory(proving, [INDEX], search))).toEqual(twins)
})

test('searchHistory: a hit other than the requested one does not hide that a copy lacks the requested one', async () => {
  const one = { ...search, wanted: 1, by: 'hash8' }
  for (const isEnough of [true, false]) {
    const asked = { ...one, isEnough: () => isEnough }
    const found = await atOldCopy(twins, proving => searchHistory(proving, [INDEX], asked))
    expect(found instanceof OutOfDateCopy).toBe(!isEnough)
  }
})

test('searchHistory: hits that share a value do not hide that a copy lacks another value', async () => {
  const found = await atOldCopy(twins, proving => searchHistory(proving, [INDEX], { ...search, by: 'hash8' }))
  expect(found).toBeInstanceOf(OutOfDateCopy)
})
