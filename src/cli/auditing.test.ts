import { expect, test } from 'bun:test'
import type { ProofRecord } from '#store/published.ts'
import { provedJson, provedLines } from './auditing.ts'

const published = (height: number, proved?: ProofRecord) => ({
  height,
  hash: '',
  time: 0n,
  lib: height,
  ...(proved === undefined ? {} : { proved }),
})

test('provedLines: a store of an earlier version has no record', () => {
  expect(provedLines(published(9))).toEqual(['blocks 0 to 9: not recorded, at best linked'])
  expect(provedJson(published(9))).toEqual({
    ranges: [{ from: 0, to: 9, level: 'not recorded', agreed: false }],
    lost_receipts: 0,
  })
})

test('provedLines: every block up to the published one is listed, and none beyond', () => {
  const proved: ProofRecord = {
    ranges: [
      { from: 5, to: 5, level: 'signed' },
      { from: 6, to: 20, level: 'whole', agreed: true },
    ],
    lost: 3,
    formerKeys: [],
  }
  expect(provedLines(published(9, proved))).toEqual([
    'blocks 0 to 4: not recorded, at best linked',
    'block 5: signed',
    'blocks 6 to 9: whole, and other nodes agreed',
    "3 receipts by the raw block, since the node's JSON had lost bytes",
  ])
  expect(provedJson(published(30, proved)).ranges.at(-1)).toEqual({
    from: 21,
    to: 30,
    level: 'not recorded',
    agreed: false,
  })
})
