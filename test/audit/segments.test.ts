import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { lists } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { type SegmentsDoc as Doc, type Segment, segments } from '#indices/segment.ts'
import { wealth } from '#indices/wealth.ts'
import type { Rewrite } from '#store/port.ts'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { diesAt } from '../support/processes/doomed.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { audited, repaired } from '../support/stores/audited.ts'
import { type Damageable, damageableElastic, damageableSqlite, readAll } from '../support/stores/damage.ts'
import { type Dump, differences } from '../support/stores/dump.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { loadFrom } from '../support/stores/loading.ts'
import { testFolder } from '../support/test-folder.ts'

setDefaultTimeout(SOAK ? 3_600_000 : 600_000)

const KILLS = SOAK ? 60 : 2

/** A repair is killed within this many writes. Each repair starts from the state that the previous one left. */
const WRITES = { sqlite: 30, elastic: 60 } as const

/** Damage for every kind of write: documents to put and to remove, places to add and to remove. */
async function damage(place: Damageable): Promise<void> {
  const of = async (index: AnyIndex) => (await readAll(place, index)).map(({ id }) => id)
  const [[held = '', gone = ''], [rich = ''], [list = '']] = [await of(balances), await of(wealth), await of(lists)]
  await place.copy(balances, held, 'nobody/nothing')
  await place.change(balances, held, 'amount', 7n)
  await place.remove(balances, gone)
  await place.change(wealth, rich, 'total', 7n)
  await place.change(lists, list, 'count', 7)
  for (const leaf of (await of(segments)).slice(0, 3)) await place.change(segments, leaf, 'segments', '[]')
  const rows = (await readAll(place, records)).map(({ doc }) => doc)
  for (const row of rows.slice(10, 16)) await place.remove(records, row.id)
  for (const row of rows.slice(20, 24)) await place.losePlace(row.id, row.places[0] ?? 0n)
  for (const [at, row] of rows.slice(30, 33).entries())
    await place.copy(records, row.id, `${row.id.slice(0, -5)}0999${at}`)
}

const damaged = (dump: Dump, clean: Dump): ReadonlySet<string> =>
  new Set([...new Set([...dump.keys(), ...clean.keys()])].filter(id => dump.get(id) !== clean.get(id)))

/** Rankings with several segments each: holders of two tokens, wealth, voters of a producer. */
const SETTINGS = { ...small('mixed'), holders: 620, voters: 600, blocks: 12 }

/** Damage to a leaf or a root: from the correct list to the damaged one. */
const damages: readonly ((list: readonly Segment[]) => readonly Segment[])[] = [
  // A count too high.
  ([first, ...rest]) => [withCount(first, 1), ...rest],
  // A member counted in the segment before its own one.
  ([first, second, ...rest]) => [withCount(first, 1), withCount(second, -1), ...rest],
  // A missing segment.
  list => list.slice(0, -1),
  // An additional empty segment.
  list => [...list, ['1', 'zzz', 0]],
  // A segment split in two.
  ([[amount, name, count] = NONE, ...rest]) => [[amount, name, 1], ['1', 'zzz', count - 1], ...rest],
  // A bound with another amount, or with another name.
  ([first = NONE, [, name, count] = NONE, ...rest]) => [first, ['7', name, count], ...rest],
  ([first = NONE, [amount, , count] = NONE, ...rest]) => [first, [amount, 'other', count], ...rest],
  () => [],
]
const NONE: Segment = ['', '', 0]
const withCount = ([amount, name, count] = NONE, more: number): Segment => [amount, name, count + more]

/** Audits and corrects. Returns the findings and the ids of the written documents. */
async function corrected({ store }: Damageable) {
  const identity = await store.identity()
  if (identity === undefined) throw new Error('Nothing is loaded.')
  const writer = await store.takeOver(identity, { repair: true })
  const written: string[] = []
  const rewrite = async (parts: Rewrite): Promise<void> => {
    written.push(...parts.put.map(({ index, doc }) => `${index.name} ${doc.id}`))
    written.push(...parts.remove.map(({ index, id }) => `${index.name} ${id}`))
    written.push(...parts.unplace.map(String))
    await writer.rewrite(parts)
  }
  try {
    const { found } = await audited(store, { writer: { ...writer, rewrite } })
    return { found, written: written.sort() }
  } finally {
    await writer.release()
  }
}

/** A list of segments is judged above the store. On Elasticsearch (not `isWhole`) every kind of write suffices. */
function suite(open: () => Promise<Damageable>, isWhole: boolean): void {
  let place: Damageable
  let clean: Dump
  let docs: readonly Doc[]
  beforeAll(async () => {
    const node = serveGenerated(SETTINGS)
    place = await open()
    await loadFrom(node.url, place.store, { prove: 'linked' })
    await node.stop()
    clean = await place.dump()
    docs = (await readAll(place, segments)).map(({ doc }) => doc)
  })
  afterAll(() => place.destroy())

  if (isWhole)
    test('audit: each kind of damage to segments is named, and exactly the damaged documents are written', async () => {
      expect(docs.map(({ id }) => id)).toEqual(
        ['balances', 'balances', 'votes', 'wealth']
          .flatMap((index, at) => [0, 1].map(leaf => `${index}/${leaf}/${['coin', 'iost', 'producer000', ''][at]}`))
          .sort(),
      )
      // Roots have one segment here and are left out. Every leaf is damaged in turn.
      const leaves = docs.filter(({ segments: list }) => list.length > 1)
      expect(leaves.length).toBe(4)
      // Each kind of damage is tested once, in groups as large as the number of leaves.
      for (let from = 0; from < damages.length; from += leaves.length) {
        const planted = damages.slice(from, from + leaves.length)
        for (const [at, damage] of planted.entries()) {
          const { id, segments: list } = leaves[at] as Doc
          await place.change(segments, id, 'segments', JSON.stringify(damage(list)))
        }
        const written = leaves.slice(0, planted.length).map(({ id }) => `segments ${id}`)
        expect(await corrected(place)).toEqual({ found: written.map(line => `${line} segments`), written })
        expect(differences(await place.dump(), clean)).toEqual([])
      }
    })

  if (isWhole)
    test('audit: damaged roots, lost and additional leaves and an unreadable value are found all at once', async () => {
      type Six = readonly [Doc, Doc, Doc, Doc, Doc, Doc]
      const [coinRoot, iostRoot, coinLeaf, iostLeaf, voteRoot, voteLeaf] = docs as unknown as Six
      const [[amount, bound, count, leaf] = NONE] = coinRoot.segments
      const [root = NONE] = iostRoot.segments
      await place.change(segments, coinRoot.id, 'segments', JSON.stringify([[amount, bound, count + 1, leaf]]))
      await place.change(segments, iostRoot.id, 'segments', JSON.stringify([[...root.slice(0, 3), 2]]))
      await place.copy(segments, coinLeaf.id, 'balances/2/coin')
      await place.copy(segments, coinLeaf.id, 'balances/1/nobody')
      await place.remove(segments, iostLeaf.id)
      await place.remove(segments, voteRoot.id)
      await place.change(segments, voteLeaf.id, 'segments', '[["",')
      const found = [
        `segments ${coinRoot.id} segments`,
        `segments ${iostRoot.id} segments`,
        'segments balances/2/coin document',
        'segments balances/1/nobody document',
        `segments ${iostLeaf.id} document`,
        `segments ${voteRoot.id} document`,
        `segments ${voteLeaf.id} document`,
      ].sort()
      const written = found.map(line => line.replace(/ \w+$/, '')).sort()
      expect(await corrected(place)).toEqual({ found, written })
      expect(differences(await place.dump(), clean)).toEqual([])
    })

  // Killed processes leave their temporary files here.
  const environment = { TMPDIR: testFolder() }
  test('repair: killed again and again it never adds damage, and the last repair leaves the store whole', async () => {
    const seed = seedOf(41)
    const random = seeded(seed)
    let kills = 0
    let left: ReadonlySet<string> = new Set()
    for (let run = 0; kills < KILLS; run++) {
      if (left.size === 0) {
        await damage(place)
        left = damaged(await place.dump(), clean)
        expect(left.size).toBeGreaterThan(15)
      }
      const write = 1 + Math.floor(random() * WRITES[place.kind])
      if (await diesAt(write, { program: 'repair-process.ts', place: place.args, environment })) kills++
      const still = damaged(await place.dump(), clean)
      expect([seed, run, [...still].filter(each => !left.has(each))]).toEqual([seed, run, []])
      left = still
    }
    const { complete, notes } = await repaired(place.store)
    expect([complete, notes]).toEqual([true, []])
    expect([seed, differences(await place.dump(), clean)]).toEqual([seed, []])
  })
}

describe('audit of segments in SQLite', () => suite(damageableSqlite, true))
if (elasticsearchUrl() !== undefined)
  describe('audit of segments in Elasticsearch', () => suite(damageableElastic, false))
