import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { inChinese, samplePaths } from './samples.ts'
import { type Explorer, explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

/** The time of the last loaded block, and that of a visitor ten days later, milliseconds. */
let last = 0
const later = 10 * 86_400_000
let explorer: Explorer
beforeAll(async () => {
  last = Number((await recordedBlocks()).at(-1)?.block.time ?? 0n) / 1e6
  explorer = await explorerOn({ isKeyless: true, now: () => last + later })
})

/** The times of a page that have a distance in words: the time, and the words. */
const distancesIn = (html: string): readonly (readonly [number, string])[] =>
  [...html.matchAll(/<time class="ago" datetime="([^"]*)"[^>]*>([^<]*)</g)].map(([, iso = '', words = '']) => [
    Date.parse(iso),
    words,
  ])

test('times: nothing after the last loaded block is told as an age, and nothing before it as to come', async () => {
  const paths = await samplePaths(explorer)
  let compared = 0
  for (const path of [...paths, ...inChinese(paths)])
    for (const [time, words] of distancesIn((await explorer.visit(path)).html)) {
      expect([path, words, / ago$|前$/.test(words)]).toEqual([path, words, time <= last])
      compared += 1
    }
  expect(compared).toBeGreaterThan(100)
})

test('times: what was due after the last loaded block says so', async () => {
  const { html, text } = await explorer.visit('/account/user_001')
  const [, iso = ''] = /Next to become available.*?datetime="([^"]*)"/s.exec(html) ?? []
  expect([Date.parse(iso) > last, Date.parse(iso) < last + later]).toEqual([true, true])
  expect(text).toContain('(past, but after the last loaded block)')
  expect((await explorer.visit('/zh/account/user_001')).text).toContain('（已过，但晚于最新已加载的区块）')
})
