import { expect, test } from 'bun:test'
import { auditProgress } from './audit-progress.ts'
import { createScreen } from './stderr.ts'

test('auditProgress: a second pass over things of the same name has a pace of its own, which is never negative', () => {
  let time = 0
  const rates: number[] = []
  const screen = createScreen({ write: () => undefined, isTerminal: false, columns: () => 80 })
  const looked = auditProgress({
    screen,
    log: (_level, _message, fields = {}) => {
      rates.push(Number(fields['per_second']))
    },
    now: () => time,
  })
  // Blocks are derived up to the end, then those that are stored are counted from the first one on.
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
