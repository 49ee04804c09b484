import { expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { lists } from '#indices/list.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { segments } from '#indices/segment.ts'
import { wealth } from '#indices/wealth.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { diesAt } from '../support/processes/doomed.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { audited, repaired } from '../support/stores/audited.ts'
import type { Damageable } from '../support/stores/damage.ts'
import { type Dump, differences } from '../support/stores/dump.ts'

const KILLS = SOAK ? 60 : 2

/** A repair is killed within this many writes. Each repair starts from the state that the previous one left. */
const WRITES = { sqlite: 30, elastic: 60 } as const

async function someOf({ store }: Damageable, index: AnyIndex) {
  const audit = await store.audit()
  for await (const page of audit.scan(index)) {
    await audit.close()
    return page.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
  throw new Error(`There is no document of ${index.name}.`)
}

/** Damage for every kind of write: documents to put and to remove, places to add and to remove. */
async function damage(place: Damageable): Promise<void> {
  const of = async (index: AnyIndex) => (await someOf(place, index)).map(({ id }) => id)
  const [[held = '', gone = ''], [rich = ''], [list = ''], leaves] = [
    await of(balances),
    await of(wealth),
    await of(lists),
    await of(segments),
  ]
  await place.copy(balances, held, 'nobody/nothing')
  await place.change(balances, held, 'amount', 7n)
  await place.remove(balances, gone)
  await place.change(wealth, rich, 'total', 7n)
  await place.change(lists, list, 'count', 7)
  for (const leaf of leaves.slice(0, 3)) await place.change(segments, leaf, 'segments', '[]')
  const rows = (await someOf(place, records)).map(({ doc }) => doc as RecordDoc)
  for (const row of rows.slice(10, 16)) await place.remove(records, row.id)
  for (const row of rows.slice(20, 24)) await place.losePlace(row.id, row.places[0] ?? 0n)
  for (const [at, row] of rows.slice(30, 33).entries())
    await place.copy(records, row.id, `${row.id.slice(0, -5)}0999${at}`)
}

/** Findings without their field: a half-correct document is no worse than a missing one. */
const documents = (found: readonly string[]): ReadonlySet<string> =>
  new Set(found.map(line => (line.includes(' row ') ? line : line.replace(/ \S+$/, ''))))

/** `place`: an undamaged store whose dump is `clean`. It is undamaged again at the end. */
export function repairKillSuite(place: () => Damageable, clean: () => Dump): void {
  // Killed processes leave their temporary files here.
  const scratch = testFolder()
  const environment = { TMPDIR: scratch }

  test('repair: killed again and again it never adds damage, and the last repair leaves the store whole', async () => {
    const seed = seedOf(41)
    const random = seeded(seed)
    let kills = 0
    let left: ReadonlySet<string> = new Set()
    for (let run = 0; kills < KILLS; run++) {
      if (left.size === 0) {
        await damage(place())
        left = documents((await audited(place().store)).found)
        expect(left.size).toBeGreaterThan(15)
      }
      const write = 1 + Math.floor(random() * WRITES[place().kind])
      if (await diesAt(write, { program: 'repair-process.ts', place: place().args, environment })) kills++
      const still = documents((await audited(place().store)).found)
      expect([seed, run, [...still].filter(each => !left.has(each))]).toEqual([seed, run, []])
      left = still
    }
    await repaired(place().store)
    expect([seed, (await audited(place().store)).found]).toEqual([seed, []])
    expect([seed, differences(await place().dump(), clean())]).toEqual([seed, []])
    process.stderr.write(`${kills} repairs killed\n`)
  })
}
