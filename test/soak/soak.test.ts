import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { seedOf } from '../support/seeded.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { testFolder } from '../support/test-folder.ts'
import { countLines, openJournal } from './causes.ts'
import { SAMPLES } from './episodes.ts'
import { elasticPlace, type SoakPlace, sqlitePlace } from './place.ts'
import { soakOn } from './stand.ts'

// A test that hangs ends at this limit. On a busy machine three minutes become ten.
setDefaultTimeout(1_800_000)

/** A minute of scripts/soak: some kinds of episodes once. */
async function soak(place: SoakPlace): Promise<void> {
  const seed = seedOf(3)
  const journal = openJournal(undefined, () => 0)
  const episodes = SAMPLES[place.name]
  await soakOn(place, journal, { seed, episodes, goesOn: played => played < episodes.length })
  expect([seed, journal.wrongs]).toEqual([seed, []])
  expect(journal.counts.get(`${place.name}: episodes`)).toBe(episodes.length)
  expect(journal.counts.get(`${place.name}: answers compared`)).toBeGreaterThan(episodes.length)
  expect(journal.counts.get(`${place.name}: loaders killed`)).toBeGreaterThan(0)
  process.stderr.write(`${countLines(journal).join('\n')}\n`)
}

describe('a short soak', () => {
  const folder = testFolder()
  test('SQLite: no answer is wrong, every refusal is explained, and all processes recover by themselves', async () => {
    await soak(sqlitePlace(folder))
  })

  test.skipIf(elasticsearchUrl() === undefined)('Elasticsearch: the store passes the same soak', async () => {
    await soak(await elasticPlace(elasticsearchUrl() ?? ''))
  })
})
