import { expect, test } from 'bun:test'
import type { Document } from '#explorer/show.tsx'
import { createPageCache } from './handler.ts'

const assets = { style: '', script: '', theme: '', preview: '' }
const site = { version: '', isExplored: true, labels: new Map(), assets }
const here = { site, root: '', origin: 'http://127.0.0.1/', isOriginKnown: true }
const visit = (path: string, query = '', lang: 'en' | 'zh' = 'en') => ({
  ...here,
  lang,
  path,
  query: new URLSearchParams(query),
})
const BLOCKS = visit('/blocks')

/** Cached pages for visitors who do not leave. */
function keptPages(elapsed = () => 0) {
  const kept = createPageCache({ elapsed })
  const { signal } = new AbortController()
  return (asked: Parameters<typeof kept>[0], make: () => Promise<Document>, leastHeight?: number) =>
    kept(asked, { make, signal }, leastHeight)
}

test('keptPages: a page is made once a second for all visitors, and a failure is not cached', async () => {
  let now = 0
  let made = 0
  const kept = keptPages(() => now)
  const page = async () => ({ text: String(++made) })
  expect(await kept(BLOCKS, page)).toEqual({ text: '1' })
  expect(await kept(BLOCKS, page)).toEqual({ text: '1' })
  expect(await kept(visit('/blocks', 'page=2'), page)).toEqual({ text: '2' })
  expect(await kept(visit('/blocks', '', 'zh'), page)).toEqual({ text: '3' })
  now = 1_000
  expect(await kept(BLOCKS, page)).toEqual({ text: '4' })
  await expect(kept(visit('/wealth'), () => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
  expect(await kept(visit('/wealth'), page)).toEqual({ text: '5' })
})

test('keptPages: a visitor with a newer height gets no older page, and a redirect is valid at any height', async () => {
  const kept = keptPages()
  const at = (height: number) => async () => ({ text: `at ${height}`, height })
  expect(await kept(BLOCKS, at(7))).toMatchObject({ height: 7 })
  expect(await kept(BLOCKS, at(8), 7)).toMatchObject({ height: 7 })
  expect(await kept(BLOCKS, at(9), 8)).toMatchObject({ height: 9 })
  await kept(visit('/search'), async () => ({ to: '/tx/a' }))
  expect(await kept(visit('/search'), at(9), 9)).toEqual({ to: '/tx/a' })
})

test('keptPages: visitors join a page that is being made; a failed or too old one is made again', async () => {
  const kept = keptPages()
  const [first, second] = [Promise.withResolvers<Document>(), Promise.withResolvers<Document>()]
  const never = () => Promise.reject(new Error('made twice'))
  const one = kept(BLOCKS, () => first.promise)
  const two = kept(BLOCKS, never)
  const newer = kept(BLOCKS, () => second.promise, 8)
  const other = await kept(visit('/wealth'), async () => ({ text: 'other' }))
  const [seven, eight] = [7, 8].map(height => ({ text: `at ${height}`, height })) as [Document, Document]
  first.resolve(seven)
  expect([other, await one, await two]).toEqual([{ text: 'other' }, seven, seven])
  second.resolve(eight)
  expect(await newer).toEqual(eight)

  const gone = Promise.withResolvers<Document>()
  const failed = kept(visit('/tokens'), () => gone.promise)
  const made = kept(visit('/tokens'), async () => ({ text: 'made' }))
  gone.reject(new Error('gone'))
  await expect(failed).rejects.toThrow('gone')
  expect(await made).toEqual({ text: 'made' })
})

test('keptPages: visitors waiting for a height newer than the cached page share one page that is begun afterwards', async () => {
  const kept = keptPages()
  const first = Promise.withResolvers<Document>()
  let made = 0
  const one = kept(BLOCKS, () => first.promise)
  const make = async () => ({ text: `new ${++made}`, height: 7 })
  const others = Array.from({ length: 9 }, () => kept(BLOCKS, make, 999_999_999_999_999))
  first.resolve({ text: 'old', height: 7 })
  expect(await one).toMatchObject({ text: 'old' })
  expect(await Promise.all(others)).toEqual(Array(9).fill({ text: 'new 1', height: 7 }))
})

test('keptPages: when the visitor for whom a page is made leaves, another waiting one makes it for all', async () => {
  const kept = createPageCache({ elapsed: () => 0 })
  const visitors = [new AbortController(), new AbortController(), new AbortController()]
  const made: number[] = []
  const pages = visitors.map(({ signal }, at) => {
    const make = () => {
      made.push(at)
      return new Promise<Document>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    return kept(BLOCKS, { make, signal })
  })
  const ends = Promise.allSettled(pages)
  const last = Array.from({ length: 5 }, (_, at) => {
    const make = async () => {
      made.push(10 + at)
      return { text: 'made' }
    }
    return kept(BLOCKS, { make, signal: new AbortController().signal })
  })
  // A waiting visitor who leaves makes no page.
  for (const at of [2, 0, 1]) {
    visitors[at]?.abort(new Error(`gone ${at}`))
    await Bun.sleep(0)
  }
  expect(await Promise.all(last)).toEqual(Array(5).fill({ text: 'made' }))
  expect((await ends).map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
  expect(made).toEqual([0, 1, 10])
})
