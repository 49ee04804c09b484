import { describe, expect, test } from 'bun:test'
import { KINDS } from './cycle-plan.ts'
import { tallyAt, tallyStepByStep } from './leap.ts'
import { HUB } from './names.ts'
import { rowsBetween } from './rows.ts'
import { PROFILES, settingsOf } from './settings.ts'
import { small } from './small.ts'
import { TABLES, type Table } from './tally.ts'
import { truthAt } from './truth.ts'
import { worldOf } from './world.ts'

/** The table without zeros: a sum that returned to zero equals one that never existed. */
const plain = (table: Table) =>
  new Map(
    [...table].flatMap(([group, names]) =>
      [...names]
        .filter(([, value]) => value !== 0n)
        .map(([name, value]) => [`${group}/${name}`, value] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  )

for (const profile of PROFILES)
  describe(`truth of a ${profile} generated chain`, () => {
    const world = worldOf(small(profile))
    const { dawn, settings } = world
    const within = dawn + 3 * settings.cycle + Math.floor(settings.cycle / 3)
    const heights = [0, 1, dawn - 1, dawn, dawn + 2 * settings.cycle - 1, within]

    test('a tally that leaps over cycles equals one of all blocks', () => {
      for (const height of heights) {
        const [leapt, stepped] = [tallyAt(world, height), tallyStepByStep(world, height)]
        for (const name of TABLES) expect(plain(leapt.tables[name])).toEqual(plain(stepped.tables[name]))
        expect([...leapt.owners].sort()).toEqual([...stepped.owners].sort())
        expect(leapt.frozen).toEqual(stepped.frozen)
      }
    })

    test('no balance is ever below zero', () => {
      const step = Math.ceil(settings.cycle / 40)
      const sums = tallyStepByStep(world, dawn - 1)
      for (let height = dawn, before = dawn - 1; height < dawn + settings.cycle; before = height, height += step) {
        const tally = structuredClone(tallyStepByStep(world, height, sums, before))
        // `truthAt` adds the block rewards, which the tally leaves out.
        truthAt(world, height, tally)
        const { balances, votes, nfts } = tally.tables
        for (const [group, names] of [...balances, ...votes, ...nfts])
          for (const [name, units] of names)
            if (units < 0n) throw new Error(`${name} has ${units} ${group} after block ${height}`)
      }
    }, 600_000)

    test('rows of a list are the same from any first ordinal', () => {
      const truth = truthAt(world, within)
      for (const key of [`account/${HUB}`, 'moved/bonus.iost/iost', 'token/iost']) {
        const all = truth.rows(key, 1, Number.MAX_SAFE_INTEGER)
        expect([key, all.length]).toEqual([key, truth.count(key)])
        for (const part of [0.2, 0.5, 0.9]) {
          const first = Math.ceil(all.length * part)
          expect(truth.rows(key, first, first + 9)).toEqual(all.slice(first - 1, first + 9))
        }
      }
    })
  })

test.each(PROFILES)('one account is in 15 to 30 of 100 rows of a %s cycle', profile => {
  const world = worldOf(settingsOf({ ...small(profile), holders: 50_000, cycle: 16_384 }))
  let [rows, its] = [0, 0]
  for (const { keys } of rowsBetween(world, world.dawn, world.dawn + 16_383, new Set(world.contracts))) {
    rows += 1
    if (keys.includes(`account/${HUB}`)) its += 1
    if (rows === 20_000) break
  }
  expect(rows).toBeGreaterThan(1500)
  expect(its / rows).toBeGreaterThan(0.15)
  expect(its / rows).toBeLessThan(0.3)
})

test('every kind of transaction is in a mixed cycle', () => {
  const world = worldOf(small('mixed'))
  const kinds = new Set(Array.from({ length: world.schedule.count / 2 }, (_, j) => world.plan.read(j).kind))
  expect([...kinds].sort()).toEqual([...KINDS].sort())
})

test('hundreds of holders have equal balances, and the truth far up the chain takes no longer', () => {
  const world = worldOf(
    settingsOf({ profile: 'sparse', blocks: 300_000_000, holders: 20_000, voters: 2000, cycle: 8192 }),
  )
  const truth = truthAt(world, 250_000_000)
  const sizes = new Map<bigint, number>()
  for (const [, units] of truth.holders('coin')) sizes.set(units, (sizes.get(units) ?? 0) + 1)
  expect(Math.max(...sizes.values())).toBeGreaterThan(300)
  expect(truth.holders('coin').length).toBeGreaterThan(20_000)
  expect(truth.voters('producer000').length).toBe(2000)
  const key = `account/${HUB}`
  const total = truth.count(key)
  expect(total).toBeGreaterThan(1_000_000)
  const [row] = truth.rows(key, total, total)
  expect(row?.keys).toContain(key)
  expect(truth.rows(key, total, total + 5)).toEqual(row === undefined ? [] : [row])
})
