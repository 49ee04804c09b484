import { expect, test } from 'bun:test'
import { keptPages } from './kept-pages.ts'

const visit = (path: string, query = '') => ({
  ...({ site: { version: '', assets: { style: '', script: '', plots: '' } }, root: '', lang: 'en' } as const),
  ...{ path, query: new URLSearchParams(query), origin: 'http://127.0.0.1/', isOriginKnown: true },
})

test('keptPages: a page is made once a second, whoever asks; a failure is not kept', async () => {
  let now = 0
  let made = 0
  const kept = keptPages({ elapsed: () => now })
  const page = async () => ({ text: String(++made) })
  expect(await kept(visit('/blocks'), page)).toEqual({ text: '1' })
  expect(await kept(visit('/blocks'), page)).toEqual({ text: '1' })
  expect(await kept(visit('/blocks', 'page=2'), page)).toEqual({ text: '2' })
  expect(await kept({ ...visit('/blocks'), lang: 'zh' }, page)).toEqual({ text: '3' })
  now = 1_000
  expect(await kept(visit('/blocks'), page)).toEqual({ text: '4' })
  await expect(kept(visit('/wealth'), () => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
  expect(await kept(visit('/wealth'), page)).toEqual({ text: '5' })
})

test('keptPages: who knows of a height gets no page that is older; a redirect is of any', async () => {
  const kept = keptPages({ elapsed: () => 0 })
  const at = (height: number) => async () => ({ text: `at ${height}`, height })
  expect(await kept(visit('/blocks'), at(7))).toMatchObject({ height: 7 })
  expect(await kept(visit('/blocks'), at(8), 7)).toMatchObject({ height: 7 })
  expect(await kept(visit('/blocks'), at(9), 8)).toMatchObject({ height: 9 })
  await kept(visit('/search'), async () => ({ to: '/tx/a' }))
  expect(await kept(visit('/search'), at(9), 9)).toEqual({ to: '/tx/a' })
})

test('keptPages: the oldest page gives way, and a very long one is not kept', async () => {
  const kept = keptPages({ elapsed: () => 0 })
  let made = 0
  const page = async () => ({ text: String(++made) })
  for (let at = 0; at <= 64; at++) await kept(visit(`/block/${at}`), page)
  expect(await kept(visit('/block/64'), page)).toEqual({ text: '65' })
  expect(await kept(visit('/block/0'), page)).toEqual({ text: '66' })
  const long = async () => ({ text: `${++made}`.repeat(300_000) })
  expect(await kept(visit('/long'), long)).not.toEqual(await kept(visit('/long'), long))
})
