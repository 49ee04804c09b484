import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openUsage } from './usage.ts'

test('openUsage: counts are added by several, kept when it is closed, and forgotten when their day is over', () => {
  const folder = mkdtempSync(join(tmpdir(), 'iostlens-usage-'))
  const path = join(folder, 'data', 'usage.sqlite')
  const [one, two] = [openUsage(path), openUsage(path)]
  expect(one.add(5, new Map())).toEqual(new Map())
  expect(one.add(5, new Map([['a', 2]]))).toEqual(new Map([['a', 2]]))
  expect(
    two.add(
      5,
      new Map([
        ['a', 3],
        ['b', 1],
      ]),
    ),
  ).toEqual(
    new Map([
      ['a', 5],
      ['b', 1],
    ]),
  )
  one.close()
  two.close()
  const three = openUsage(path)
  expect(three.add(5, new Map([['a', -1]])).get('a')).toBe(4)
  expect(three.add(6, new Map([['a', 1]]))).toEqual(new Map([['a', 1]]))
  expect(three.add(5, new Map())).toEqual(new Map())
  three.close()
  writeFileSync(join(folder, 'other'), 'no database, but long enough to be looked at as one: '.repeat(40))
  expect(() => openUsage(join(folder, 'other'))).toThrow()
  rmSync(folder, { recursive: true })
})
