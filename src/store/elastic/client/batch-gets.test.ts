import { expect, test } from 'bun:test'
import { batchGets } from './batch-gets.ts'
import type { Ref } from './bulk-item.ts'
import type { Got } from './get-many.ts'

const ref = (id: string): Ref => ({ index: 'lists', id })
const gotOf = ({ id }: Ref): Got => ({ source: { id }, version: 1, seqNo: 0, primaryTerm: 1 })

test('batchGets: reads of one turn are one request, and each gets its own documents', async () => {
  const asked: string[][] = []
  const get = batchGets(async refs => {
    asked.push(refs.map(({ id }) => id))
    return refs.map(each => (each.id === 'none' ? undefined : gotOf(each)))
  })
  const [one, none, two] = await Promise.all([get([ref('a')]), get([ref('none')]), get([ref('b'), ref('a')])])
  expect(one).toEqual([gotOf(ref('a'))])
  expect(none).toEqual([undefined])
  expect(two).toEqual([gotOf(ref('b')), gotOf(ref('a'))])
  await get([ref('c')])
  expect(asked).toEqual([['a', 'none', 'b', 'a'], ['c']])
})

test('batchGets: a failed request fails all its reads; the next read is a new request', async () => {
  let asked = 0
  const get = batchGets(async refs => {
    if (asked++ === 0) throw new RangeError('mine')
    return refs.map(gotOf)
  })
  const settled = await Promise.allSettled([get([ref('a')]), get([ref('b')])])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await get([ref('a')])).toEqual([gotOf(ref('a'))])
})
