import { expect, test } from 'bun:test'
import { barText, progressView } from './progress.ts'
import { createScreen } from './stderr.ts'

const at = (height: number, target: number) => ({
  height,
  target,
  lib: target,
  records: height * 2,
  transactions: 0,
})

test('barText: share, rates and time left', () => {
  const rate = { blocksPerSecond: 1_000, recordsPerSecond: 2_000.4 }
  expect(barText(at(2_500, 10_000), rate, 100)).toBe(
    '[======>                  ]  25.0 %  block 2,500 of 10,000  1,000 blocks/s  2,000 rows/s  8 s left',
  )
  expect(barText(at(9_999, 10_000), rate, 60)).toBe(
    ' 99.9 %  block 9,999 of 10,000  1,000 blocks/s  2,000 rows/s  1 s left',
  )
  expect(barText(at(10_000, 10_000), rate, 100)).toBe(
    '[==============================] 100.0 %  block 10,000 of 10,000  1,000 blocks/s  2,000 rows/s',
  )
})

test('barText: an empty store, a chain of one block and long loads', () => {
  const none = { blocksPerSecond: 0, recordsPerSecond: 0 }
  expect(barText(at(-1, 10), none, 40)).toBe('  0.0 %  block 0 of 10  0 blocks/s  0 rows/s')
  expect(barText(at(0, 0), none, 40)).toBe('100.0 %  block 0 of 0  0 blocks/s  0 rows/s')
  const slow = { blocksPerSecond: 100, recordsPerSecond: 0 }
  expect(barText(at(0, 300_000_000), slow, 40)).toEndWith('34 d 17 h left')
})

const viewed = (isTerminal: boolean) => {
  const lines: unknown[] = []
  let written = ''
  let time = 0
  const screen = createScreen({
    write: text => {
      written += text
    },
    isTerminal,
    columns: () => 100,
  })
  const log = (_level: string, message: string, fields: object = {}) => lines.push([message, fields])
  const view = progressView({ screen, log, now: () => time, from: 0 })
  const update = (ms: number, height: number) => {
    time = ms
    view.update(at(height, 10_000))
  }
  const pass = (ms: number): void => {
    time = ms
  }
  return { view, update, pass, lines, written: () => written }
}

test('progressView: without a terminal a line per ten seconds and one at the end', () => {
  const { view, update, lines } = viewed(false)
  update(0, 0)
  update(5_000, 1_000)
  update(10_000, 2_000)
  update(12_000, 10_000)
  view.end()
  expect(lines).toEqual([
    ['Loaded blocks.', { height: 0, target: 10_000, blocks_per_second: 0, records_per_second: 0 }],
    [
      'Loaded blocks.',
      { height: 2_000, target: 10_000, blocks_per_second: 200, records_per_second: 400, seconds_left: 40 },
    ],
    [
      'Loaded blocks.',
      {
        height: 10_000,
        target: 10_000,
        blocks_per_second: 1_286,
        records_per_second: 2_571,
        seconds_left: 0,
      },
    ],
  ])
})

test('progressView: on a terminal a bar, kept when the load is done', () => {
  const { update, lines, written } = viewed(true)
  update(0, 0)
  update(1_000, 10_000)
  expect(lines).toEqual([])
  expect(written()).toEndWith('100.0 %  block 10,000 of 10,000  10,000 blocks/s  20,000 rows/s\n')
})

test('progressView: a load that begins anew after a pause counts its records from 0, and no rate is negative', () => {
  const { view, lines, update, pass } = viewed(false)
  update(0, 0)
  update(9_000, 4_000)
  // The store was taken over anew: the height goes on, the records begin again.
  pass(10_500)
  view.update({ ...at(4_010, 10_000), records: 20 })
  for (const line of lines as readonly (readonly [string, Record<string, number>])[])
    for (const value of Object.values(line[1])) expect(value).toBeGreaterThanOrEqual(0)
  expect(lines.length).toBe(2)
})
