import { expect, test } from 'bun:test'
import { type Finding, findings, findingText } from './compare.ts'

const finding = (more: Partial<Finding> = {}): Finding => ({
  index: 'lists',
  id: 'account/admin',
  field: 'row 7',
  stored: 'nothing',
  expected: '000000000007-00001-00000',
  by: 'replay',
  ...more,
})

test('findings: a limited number of each kind is shown and all are counted; list rows are one kind', () => {
  const found = findings(2)
  for (const field of ['row 1', 'row 2', 'row 3', 'count']) found.add(finding({ field }))
  found.add(finding({ field: 'count', by: 'node' }))
  expect(found.shown.map(({ field }) => field)).toEqual(['row 1', 'row 2', 'count', 'count'])
  expect([...found.totals]).toEqual([
    ['lists row', 3],
    ['lists count', 2],
  ])
  expect([found.count, found.beyondRepair]).toEqual([5, 1])
})

test('findingText: a finding is one line with shortened values and the node’s name', () => {
  expect(findingText(finding())).toBe('lists account/admin row 7: stored nothing expected 000000000007-00001-00000')
  expect(findingText(finding({ stored: 'x'.repeat(161), by: 'node' }))).toBe(
    `lists account/admin row 7: stored ${'x'.repeat(160)}… (161 characters) expected 000000000007-00001-00000 (node)`,
  )
})
