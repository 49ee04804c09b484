import { expect, test } from 'bun:test'
import { stageProgress } from './stage-progress.ts'
import { createScreen } from './stderr.ts'

test('stageProgress: a second pass over things of the same name has a pace of its own, which is never negative', () => {
  let time = 0
  const rates: number[] = []
  const screen = createScreen({ write: () => undefined, isTerminal: false, columns: () => 80 })
  const looked = stageProgress({
    screen,
    log: (_level, _message, fields = {}) => {
      rates.push(Number(fields['per_second']))
    },
    now: () => time,
    doing: { bar: 'Checking', log: 'Checked.' },
  })
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

test('stageProgress: a terminal shows the share that is done, the rate and the time that is left', () => {
  let time = 0
  let text = ''
  const screen = createScreen({ write: part => (text = part), isTerminal: true, columns: () => 80 })
  const looked = stageProgress({
    ...{ screen, log: () => undefined, now: () => time },
    doing: { bar: 'Writing', log: 'Wrote.' },
  })
  looked({ stage: 'blocks', done: 0, of: 1_000 })
  time = 10_000
  looked({ stage: 'blocks', done: 400, of: 1_000 })
  expect(text).toEndWith('Writing blocks: 400 of 1000 (40 %)  40/s  15 s left')
})
