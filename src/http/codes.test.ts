import { expect, test } from 'bun:test'
import { codes } from './codes.ts'

test('codes: the numbers are stable', () => {
  expect(
    Object.fromEntries(Object.entries(codes).map(([kind, { status, code }]) => [kind, `${status} ${code}`])),
  ).toEqual({
    bad_request: '400 4000',
    unauthorized: '401 4010',
    forbidden: '403 4030',
    not_found: '404 4040',
    method_not_allowed: '405 4050',
    replaced: '409 4090',
    uri_too_long: '414 4140',
    rate_limited: '429 4290',
    loading: '503 5031',
    unavailable: '503 5030',
    damaged: '503 5033',
    bad_block: '503 5032',
    deadline: '504 5040',
    defect: '500 5000',
    usage: '500 5000',
    conflict: '503 5030',
  })
})

test('codes: internal names are not exposed, and every title is in both languages', () => {
  for (const kind of ['defect', 'usage', 'bad_block'] as const) expect(codes[kind].message).toBe('never')
  for (const { title } of Object.values(codes)) {
    expect(title.en).toMatch(/^[A-Z].*\.$/)
    expect(title.zh).toMatch(/。$/)
  }
})
