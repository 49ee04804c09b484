import { expect, test } from 'bun:test'
import type { Log } from '#failure/failure.ts'
import { barText, type LoadPace, progressView, stageProgress } from './progress.ts'
import { createScreen, lineWriter } from './stderr.ts'

function screenOn(isTerminal: boolean, columns = 20) {
  const written: string[] = []
  const screen = createScreen({ write: text => written.push(text), isTerminal, columns: () => columns })
  return { screen, written: () => written.join('') }
}
const CLEAR = '\r\u001b[2K'

test('createScreen: a line is printed above the bar, which is cut to the width', () => {
  const { screen, written } = screenOn(true)
  screen.bar('half of everything is done')
  screen.line('news')
  screen.bar('all')
  screen.keepBar()
  screen.line('end')
  expect(written()).toBe(`${CLEAR}half of everything ${CLEAR}news\nhalf of everything ${CLEAR}all\nend\n`)
})

test('createScreen: an empty bar text removes the bar', () => {
  const { screen, written } = screenOn(true)
  screen.bar('')
  screen.bar('x')
  screen.bar('')
  screen.line('end')
  expect(written()).toBe(`${CLEAR}x${CLEAR}end\n`)
})

test('createScreen: without a terminal only lines are printed', () => {
  const { screen, written } = screenOn(false)
  screen.bar('x')
  screen.keepBar()
  screen.line('news')
  expect(written()).toBe('news\n')
})

const never = new Promise<void>(() => {})

function setUp(maxWaiting: number) {
  const sent: string[] = []
  const done: (() => void)[] = []
  const soon: (() => void)[] = []
  const writer = lineWriter(
    (text, over) => {
      sent.push(text)
      done.push(over)
    },
    { maxWaiting, dropped: count => `${count} lost\n`, soon: work => soon.push(work) },
  )
  return { writer, sent, goOn: () => done.shift()?.(), endTurn: () => soon.shift()?.() }
}

test('lineWriter: lines of one turn, and lines during a write, are written together in order', () => {
  const { writer, sent, goOn, endTurn } = setUp(100)
  for (const line of ['a\n', 'b\n', '', 'c\n']) writer.write(line)
  expect(sent).toEqual([])
  endTurn()
  for (const line of ['d\n', 'e\n']) writer.write(line)
  expect(sent).toEqual(['a\nb\nc\n'])
  goOn()
  goOn()
  writer.write('f\n')
  endTurn()
  expect(sent).toEqual(['a\nb\nc\n', 'd\ne\n', 'f\n'])
})

test('lineWriter: a stalled reader costs no more memory than the limit, and lost lines are counted', () => {
  const { writer, sent, goOn, endTurn } = setUp(4)
  writer.write('longer than the limit\n')
  endTurn()
  for (let line = 0; line < 1_000; line++) writer.write('x\n')
  goOn()
  goOn()
  writer.write('y\n')
  endTurn()
  expect(sent).toEqual(['longer than the limit\n', 'x\nx\n998 lost\n', 'y\n'])
})

test('takeRest: lines are returned that the end of the process would lose', () => {
  const { writer, sent, endTurn } = setUp(4)
  for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line)
  expect(writer.takeRest()).toBe('a\nb\n1 lost\n')
  endTurn()
  expect([writer.takeRest(), sent]).toEqual(['', []])
})

test('written: waits for unfinished lines, but no longer than the limit', async () => {
  const { writer, goOn, endTurn } = setUp(4)
  await writer.written(never)
  writer.write('x\n')
  const over = writer.written(never)
  endTurn()
  expect(Bun.peek.status(over)).toBe('pending')
  await writer.written(Promise.resolve())
  goOn()
  await over
})

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
  let time = 0
  const { screen, written } = screenOn(isTerminal, 100)
  const log = (_level: string, message: string, fields: object = {}) => lines.push([message, fields])
  const view = progressView({ screen, log, now: () => time, from: 0 })
  const pass = (ms: number): void => {
    time = ms
  }
  const update = (ms: number, height: number) => {
    pass(ms)
    view.update(at(height, 10_000))
  }
  return { view, update, pass, lines, written }
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
  const rates = (blocks_per_second: number, transactions_per_second: number, documents_per_second: number) => ({
    ...{ blocks_per_second, transactions_per_second, documents_per_second },
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
  const log: Log = (_level, _message, fields = {}) => void rates.push(Number(fields['per_second']))
  const looked = stageProgress(
    { screen: screenOn(false).screen, log, now: () => time },
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
  const { screen, written } = screenOn(true, 80)
  const looked = stageProgress({ screen, log: () => undefined, now: () => time }, { bar: 'Writing', log: 'Wrote.' })
  looked({ stage: 'blocks', done: 0, of: 1_000 })
  time = 10_000
  looked({ stage: 'blocks', done: 400, of: 1_000 })
  expect(written()).toEndWith('Writing blocks: 400 of 1000 (40 %)  40/s  15 s left')
})
