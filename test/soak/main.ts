import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { countLines, openJournal } from './causes.ts'
import { episodesOn } from './episodes.ts'
import { elasticPlace, sqlitePlace } from './place.ts'
import { soakOn } from './stand.ts'

/** See scripts/soak --help. Exits with 1 when an answer was wrong or a refusal unexplained. */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    episodes: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    store: { type: 'string', default: 'both' },
    only: { type: 'string', default: '' },
    log: { type: 'string' },
  },
})
const seed = Number(values.seed)
const begun = performance.now()
const log = values.log ?? join(tmpdir(), `soak-${seed}.log`)
const journal = openJournal(log, () => performance.now() - begun)
const folder = mkdtempSync(join(tmpdir(), 'iostlens-soak-'))
const kinds = values.store === 'both' ? ['sqlite', 'elasticsearch'] : [values.store]
const { ELASTICSEARCH_URL: server = '' } = process.env

process.stdout.write(`seed ${seed}, events in ${log}\n`)
for (const [at, kind] of kinds.entries()) {
  const until = (Number(values.minutes) * 60_000 * (at + 1)) / kinds.length
  const goesOn = (played: number): boolean =>
    values.episodes === undefined ? performance.now() - begun < until : played < Number(values.episodes)
  const place = kind === 'sqlite' ? sqlitePlace(folder) : await elasticPlace(server)
  const episodes = episodesOn(place).filter(each => each.name.includes(values.only))
  await soakOn(place, journal, { seed, goesOn, episodes })
}
rmSync(folder, { recursive: true, force: true })
for (const line of countLines(journal)) process.stdout.write(`${line}\n`)
for (const wrong of journal.wrongs.slice(0, 10)) process.stdout.write(`WRONG: ${wrong}\n`)
process.stdout.write(
  `${Math.round((performance.now() - begun) / 1_000)} s; seed ${seed}: ${journal.wrongs.length === 0 ? 'nothing was wrong' : `${journal.wrongs.length} wrong`}\n`,
)
process.exit(journal.wrongs.length === 0 ? 0 : 1)
