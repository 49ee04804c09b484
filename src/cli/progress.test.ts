import { expect, test } from 'bun:test'
import { barText, type LoadPace, progressView, stageProgress } from './progress.ts'
import { createScreen } from './stderr.ts'

/** The progress at a height; half of the time was spent waiting for the node. */
const at = (height: number, target: number) => ({
  ...{ height, target, lib: target, blocks: height, records: height * 2, transactions: height / 2 },
  spent: { node: height / 2, deriving: height / 4, store: height / 4 },
})

const paced = (height: number, target: number, given: Partial<LoadPace> = {}): LoadPace => ({
  ...{ height, target, share: target === 0 ? 1 : Math.max(0, height / target) },
  ...{ blocks: 1_000, transactions: 500, documents: 3_500.4, secondsLeft: 8, limit: 'store' },
  ...given,
})

const NONE = { blocks: 0, transactions: 0, documents: 0, secondsLeft: undefined, limit: undefined }
const FIRST = '[====>            ]  25.0 %  block 2,500 of 10,000  1,000 blocks/s  8 s left  limited by the store'

test.each([
  [paced(2_500, 10_000), 140, `${FIRST.replace(' ]', '  ]')}  3,500 documents/s  500 transactions/s`],
  [paced(2_500, 10_000), 100, FIRST],
  [paced(9_999, 10_000, { secondsLeft: 1 }), 60, ' 99.9 %  block 9,999 of 10,000  1,000 blocks/s  1 s left'],
  [paced(-1, 10, NONE), 40, '  0.0 %  block 0 of 10  0 blocks/s'],
  [paced(0, 0, NONE), 40, '100.0 %  block 0 of 0  0 blocks/s'],
  [paced(0, 3e8, { secondsLeft: 3_000_000 }), 40, '  0.0 %  block 0 of 300,000,000  1,000 blocks/s  34 d 17 h left'],
])('barText: what there is room for is shown: %#', (pace, width, text) => {
  expect(barText(pace, width)).toBe(text)
})

function viewed(isTerminal: boolean) {
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

test('progressView: without a terminal a line is written every ten seconds and one at the end', () => {
  const { view, update, lines } = viewed(false)
  for (const [ms, height] of [
    [0, 0],
    [5_000, 1_000],
    [10_000, 2_000],
    [12_000, 10_000],
  ] as const)
    update(ms, height)
  view.end()
  const rates = (blocks: number, transactions: number, documents: number) => ({
    blocks_per_second: blocks,
    transactions_per_second: transactions,
    documents_per_second: documents,
  })
  const target = 10_000
  expect(lines.map(line => (line as readonly unknown[])[1])).toEqual([
    { height: 0, target, percent: 0, ...rates(0, 0, 0) },
    { height: 2_000, target, percent: 20, seconds_left: 40, limited_by: 'node', ...rates(200, 100, 700) },
    { height: 10_000, target, percent: 100, seconds_left: 0, limited_by: 'node', ...rates(1_286, 643, 4_500) },
  ])
})

test('progressView: a terminal shows a bar, which stays when the load is done', () => {
  const { update, lines, written } = viewed(true)
  update(0, 0)
  update(1_000, 10_000)
  expect(lines).toEqual([])
  expect(written()).toEndWith('100.0 %  block 10,000 of 10,000  10,000 blocks/s  35,000 documents/s\n')
})

test('progressView: a load that restarts after a pause counts its records from 0, and no rate is negative', () => {
  const { view, lines, update, pass } = viewed(false)
  update(0, 0)
  update(9_000, 4_000)
  // After another takeover of the store, the height continues and the record count restarts.
  pass(10_500)
  view.update({ ...at(10, 10_000), height: 4_010 })
  for (const line of lines as readonly (readonly [string, Record<string, unknown>])[])
    for (const value of Object.values(line[1])) if (typeof value === 'number') expect(value).toBeGreaterThanOrEqual(0)
  expect(lines.length).toBe(2)
})

test('pace: the pace is unknown before the first batch, and decreases while nothing is committed', () => {
  const { view, update, pass } = viewed(true)
  expect(view.pace()).toBeUndefined()
  update(1_000, 2_000)
  expect(view.pace()).toMatchObject({ blocks: 2_000, secondsLeft: 4, limit: 'node', share: 0.2 })
  pass(20_000)
  const slower = view.pace()?.blocks ?? 0
  expect(slower).toBeLessThan(200)
  pass(40_000)
  expect(view.pace()).toMatchObject({ blocks: 0, secondsLeft: undefined, limit: undefined })
})

test('stageProgress: a second stage with the same unit has its own pace, which is never negative', () => {
  let time = 0
  const rates: number[] = []
  const screen = createScreen({ write: () => undefined, isTerminal: false, columns: () => 80 })
  const looked = stageProgress(
    {
      screen,
      log: (_level, _message, fields = {}) => {
        rates.push(Number(fields['per_second']))
      },
      now: () => time,
    },
    { bar: 'Checking', log: 'Checked.' },
  )
  // Blocks are derived up to the end; then the stored ones are counted from the first one on.
  for (const [at, done] of [
    [1_000, 100],
    [11_000, 4_100],
    [22_000, 50],
    [33_000, 1_150],
  ] as const) {
    time = at
    looked({ stage: 'blocks', done })
  }
  expect(rates).toEqual([400, 0, 100])
})

test('stageProgress: a terminal shows the share done, the rate and the remaining time', () => {
  let time = 0
  let text = ''
  const screen = createScreen({ write: part => (text = part), isTerminal: true, columns: () => 80 })
  const looked = stageProgress({ screen, log: () => undefined, now: () => time }, { bar: 'Writing', log: 'Wrote.' })
  looked({ stage: 'blocks', done: 0, of: 1_000 })
  time = 10_000
  looked({ stage: 'blocks', done: 400, of: 1_000 })
  expect(text).toEndWith('Writing blocks: 400 of 1000 (40 %)  40/s  15 s left')
})
