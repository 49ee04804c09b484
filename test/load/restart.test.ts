import { beforeAll, describe, expect, test } from 'bun:test'
import { killUntilLoaded } from '../support/processes/kill.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { type Dump, differences } from '../support/stores/dump.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '../support/stores/loading.ts'
import { elasticPlace, type Place, sqlitePlace } from '../support/stores/place.ts'

/** Enough of the recorded chain for every kind of document and for many batches. */
const HEIGHT = 860
/** Some dozens of history partitions, so that batches and kills coincide with their openings. */
const PARTITION = 500
const UNBOUNDED = Number.MAX_SAFE_INTEGER

type Course = {
  /** Number of repetitions, each with random runs and batches. */
  readonly courses: number
  /** Maximum documents per batch of the loaders that are killed: several dozen batches in all. */
  readonly documents: number
}

function restarts(open: () => Promise<Place>, course: Course): void {
  let clean: Dump
  beforeAll(async () => {
    const place = await open()
    await loadFrom(ARCHIVED, place.store, { to: HEIGHT })
    clean = await place.dump()
    await place.destroy()
  })

  test('any number of runs with batches of any size stores the same documents', async () => {
    expect(clean.size).toBeGreaterThan(10_000)
    const seed = seedOf(7)
    const random = seeded(seed)
    for (let run = 0; run < course.courses; run++) {
      const place = await open()
      for (let to = -1; to < HEIGHT; ) {
        to = Math.min(HEIGHT, to + 1 + Math.floor(random() ** 3 * HEIGHT))
        const batch = { documents: 1 + Math.floor(random() ** 4 * 5_000), bytes: UNBOUNDED }
        expect(await loadFrom(ARCHIVED, place.store, { to, batch })).toBe(to)
      }
      const dump = await place.dump()
      await place.destroy()
      expect([seed, run, differences(dump, clean)]).toEqual([seed, run, []])
    }
  })

  test('loaders killed many times at random moments store the same documents', async () => {
    const seed = seedOf(11)
    const place = await open()
    await place.store.create()
    const kills = await killUntilLoaded(place, { url: ARCHIVED, to: HEIGHT, documents: course.documents }, seeded(seed))
    const dump = await place.dump()
    await place.destroy()
    expect([seed, differences(dump, clean)]).toEqual([seed, []])
    expect(kills).toBeGreaterThanOrEqual(5)
  })
}

describe('loading into SQLite', () => restarts(sqlitePlace, { courses: 4, documents: 100 }))
describe.skipIf(elasticsearchUrl() === undefined)('loading into Elasticsearch', () =>
  restarts(() => elasticPlace(PARTITION), { courses: 1, documents: 800 }),
)
