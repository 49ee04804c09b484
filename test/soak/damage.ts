import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { below, pick, within } from './causes.ts'
import { remedyIn, saidIn } from './loader.ts'
import type { SoakPlace } from './place.ts'
import type { Episode, Stand } from './stand.ts'

/** Ways to damage a store without the program's own code, while nothing writes to it. */
type Harm = {
  /** Deletes some documents of one index. Describes them. */
  documents(random: () => number): Promise<string>
  /** Increases the row count of some lists. Describes them. */
  counts(random: () => number): Promise<string>
  /** Deletes the checkpoint. The returned function restores it. */
  checkpoint(): Promise<() => Promise<void>>
  /** Changes fields of the published height. */
  published(fields: Readonly<Record<string, string | number>>): Promise<void>
}

const DAMAGED = [
  'accounts',
  'balances',
  'blocks',
  'contracts',
  'lists',
  'records',
  'tokens',
  'transactions',
  'votes',
  'wealth',
] as const
/** Maximum number of documents of one index. */
const MOST = 12
const LOOKED_AT = 200

const harmTo = ({ path, server }: SoakPlace): Harm =>
  server === undefined ? harmToFile(path ?? '') : harmToIndices(`${server.url}/${server.prefix}-`)

function harmToFile(path: string): Harm {
  const write = (sql: string, ...values: readonly (string | number)[]): void => {
    const database = new Database(path)
    try {
      if (database.query(sql).run(...values).changes === 0) throw new Error(`Nothing to damage: ${sql}`)
    } finally {
      database.close()
    }
  }
  return {
    documents: async random => {
      const [index, count] = [pick(random, DAMAGED), 1 + below(random, MOST)]
      write(`DELETE FROM "${index}" WHERE id IN (SELECT id FROM "${index}" ORDER BY id LIMIT ? OFFSET ?)`, count, 0)
      return `${count} documents of ${index}`
    },
    counts: async random => {
      const some = 1 + below(random, MOST)
      write('UPDATE lists SET count = count + 1 WHERE id IN (SELECT id FROM lists ORDER BY id LIMIT ?)', some)
      return `${some} lists`
    },
    checkpoint: async () => {
      const database = new Database(path)
      const kept = database.query(`DELETE FROM meta WHERE key = 'published' RETURNING value`).get()
      database.close()
      const { value } = kept as { readonly value: string }
      return async () => write(`INSERT INTO meta (key, value) VALUES ('published', ?)`, value)
    },
    published: async fields => {
      for (const [field, value] of Object.entries(fields))
        write(`UPDATE meta SET value = json_set(value, '$.' || ?, ?) WHERE key = 'published'`, field, value)
    },
  }
}

const HISTORY = ['blocks', 'records', 'transactions']

/** A search of an index of history, or of a kind of state. */
function searchOf(name: string): string {
  return HISTORY.includes(name) ? `${name}*/_search?` : `state/_search?q=kind:${name}&`
}

type Hit<T> = { readonly _index: string; readonly _id: string; readonly _source: T }
type Hits<T> = { readonly hits: { readonly hits: readonly Hit<T>[] } }
type List = { readonly count: number }
type Stored = { readonly _source: { readonly body: string } }

function harmToIndices(prefix: string): Harm {
  const meta = (id: string): string => `${prefix}meta/_doc/${id}?refresh=true`
  const { origin } = new URL(prefix)
  return {
    documents: async random => {
      const [index, count] = [pick(random, DAMAGED), 1 + below(random, MOST)]
      const { hits } = await ask<Hits<undefined>>('GET', `${prefix}${searchOf(index)}size=${LOOKED_AT}&_source=false`)
      const from = below(random, Math.max(1, hits.hits.length - count))
      const chosen = hits.hits.slice(from, from + count)
      for (const { _index, _id } of chosen)
        await ask('DELETE', `${origin}/${_index}/_doc/${encodeURIComponent(_id)}?refresh=true`)
      return `${chosen.length} documents of ${index}`
    },
    counts: async random => {
      const { hits } = await ask<Hits<List>>('GET', `${prefix}${searchOf('lists')}size=${1 + below(random, MOST)}`)
      for (const { _index, _id, _source } of hits.hits)
        await ask('PUT', `${origin}/${_index}/_doc/${encodeURIComponent(_id)}?refresh=true`, {
          ..._source,
          count: _source.count + 1,
        })
      return `${hits.hits.length} lists`
    },
    checkpoint: async () => {
      const { _source } = await ask<Stored>('GET', meta('checkpoint'))
      await ask('DELETE', meta('checkpoint'))
      return async () => void (await ask('PUT', meta('checkpoint'), _source))
    },
    published: async fields => {
      const { body } = (await ask<Stored>('GET', meta('published')))._source
      const said = JSON.parse(body) as { readonly end: object }
      const edited = { ...said, end: { ...said.end, ...fields } }
      await ask('PUT', meta('published'), { body: JSON.stringify(edited) })
    },
  }
}

// Operations on the file of a SQLite store, like those of an operator with a backup.

const SAYS = /file|replaced|removed|another chain|no store|nothing is loaded|gone/i

/** Suffixes of the files of a SQLite database. */
const ENDINGS = ['', '-wal', '-shm'] as const

function removeStore(path: string): void {
  for (const ending of ENDINGS) rmSync(`${path}${ending}`, { force: true })
}

function copyStore(from: string, to: string): void {
  removeStore(to)
  for (const ending of ENDINGS.toReversed())
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`)
}

/**
 * Puts a store in place atomically. Nothing writes to it meanwhile: its WAL is copied with the file, and the
 * file is renamed last.
 */
function putStore(from: string, path: string): void {
  copyStore(from, `${path}.new`)
  for (const ending of ['-wal', '-shm'] as const) {
    rmSync(`${path}${ending}`, { force: true })
    if (existsSync(`${path}.new${ending}`)) renameSync(`${path}.new${ending}`, `${path}${ending}`)
  }
  renameSync(`${path}.new`, path)
}

/** A store of a chain with another seed and the same chain id. */
async function otherChain({ run }: Stand, path: string, seed: number): Promise<void> {
  if (existsSync(path)) return
  const node = serveGenerated({ ...small('sparse', seed), blocks: 60 })
  try {
    const { code, err } = await run(['load', '--once', '--store', `sqlite:${path}`, '--node', node.url])
    if (code !== 0) throw new Error(err)
  } finally {
    await node.stop()
  }
}

/** Copies the store, lets it grow, and removes or replaces its file until the copy is put back. */
const replacing = (
  name: string,
  harm: (stand: Stand, path: string) => Promise<(() => Promise<void>) | undefined>,
): Episode => ({
  name,
  play: stand =>
    within(stand.causes, { name, statuses: [0, 503], says: SAYS }, async () => {
      const { random, loader, readers, journal, place } = stand
      const { path = '' } = place
      const goOn = await loader.hold()
      copyStore(path, `${path}.copy`)
      goOn()
      stand.grow(1 + below(random, 40))
      await stand.settled('a copy that was made')
      const again = await loader.hold()
      const onlyForth = readers.mayGoBack()
      journal.count(`${stand.name}: ${name}`)
      await (await harm(stand, path))?.()
      putStore(`${path}.copy`, path)
      stand.grow(1 + below(random, 10))
      again()
      await stand.settled('a copy that was put back')
      onlyForth()
    }),
})

export const FILES: readonly Episode[] = [
  replacing('the file is deleted, and a copy put back', async (stand, path) => {
    removeStore(path)
    return () => stand.refused(503, 'a file that was deleted')
  }),
  replacing('an older copy of the file is put into its place', async () => undefined),
  replacing('the file is replaced by a store of another chain', async (stand, path) => {
    await otherChain(stand, `${path}.other`, stand.node.chain.settings.seed + 1)
    putStore(`${path}.other`, path)
    const { code, err } = await stand.run(['load', '--once'])
    stand.journal.note(`${stand.name}: load of another chain ended with ${code}: ${err.slice(-300)}`)
    if (code === 0) stand.journal.wrong(`${stand.name}: a store of another chain was loaded on`)
    return () => stand.refused(503, 'a store of another chain')
  }),
]

const MISSING =
  /missing|no such|There is no|gone|another one|not the index|closed|alias|in the way|whole|lost|vanish|repair|file|nothing is loaded|published|checkpoint/i

const STATE = ['state', 'series'] as const

/** Deletes an index while a service and a loader use it. */
const deleteIndex: Episode = {
  name: 'an index is deleted',
  play: stand =>
    within(stand.causes, { name: 'index deleted', statuses: [0, 503], says: MISSING }, async () => {
      const { random, journal, name, place } = stand
      const { url = '', prefix = '' } = place.server ?? {}
      const behind = await ask<object>('GET', `${url}/${prefix}-${pick(random, STATE)}`)
      const index = Object.keys(behind)[0] ?? ''
      await ask('DELETE', `${url}/${index}`)
      journal.note(`${name}: index ${index} is deleted`)
      journal.count(`${name}: indices deleted`)
      stand.grow(1 + below(random, 20))
      await stand.settled('an index that was deleted')
    }),
}

/** The messages and the exit code of a command that runs while there are no requests and no loader. */
async function told(stand: Stand, words: readonly string[]) {
  const { code, out, err } = await stand.run(words)
  const said = `${saidIn(err)} ${out.trim().split('\n').slice(-3).join(' | ')}`
  stand.journal.note(`${stand.name}: ${words[0]} ended with ${code}: ${said}`)
  return { code, said }
}

/**
 * Damage that is done while the loader rests and no requests are sent. `work` repairs it, then all processes continue.
 */
const quietly = (name: string, work: (stand: Stand) => Promise<void>): Episode => ({
  name,
  play: stand =>
    within(stand.causes, { name, statuses: [0, 503], says: MISSING }, async () => {
      const { random, journal, loader, readers } = stand
      const goOn = await loader.hold()
      const resume = await readers.pause()
      await work(stand)
      journal.count(`${stand.name}: ${name}`)
      resume()
      goOn()
      stand.grow(1 + below(random, 20))
      await stand.settled(name)
    }),
})

/** Damage that no service can notice: verify must find it, and the command it names must repair it. */
async function foundByVerify(stand: Stand, what: string): Promise<void> {
  const { code, said } = await told(stand, ['verify'])
  if (code === 0) stand.journal.wrong(`${stand.name}: verify found nothing: ${what}`)
  const named = remedyIn(said)
  if (named === undefined) stand.journal.wrong(`${stand.name}: verify names no command: ${said}`)
  else await stand.remedy(named)
}

const documents = quietly('documents are deleted', async stand => {
  const what = await harmTo(stand.place).documents(stand.random)
  stand.journal.note(`${stand.name}: ${what} are deleted`)
  await foundByVerify(stand, `${what} were deleted`)
})

const edited = quietly('documents are edited', async stand => {
  const what = await harmTo(stand.place).counts(stand.random)
  stand.journal.note(`${stand.name}: one row more is counted in ${what}`)
  await foundByVerify(stand, `${what} were edited`)
})

const OTHER_HASH = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'

const published = quietly('what is published is edited', async stand => {
  const { random } = stand
  const fields = pick(random, [
    { height: stand.end() - 1 - below(random, 50) },
    { height: stand.end() + 1 },
    { hash: OTHER_HASH },
    { time: '1700000000000000000' },
    { lib: 1 },
  ])
  const what = `published ${JSON.stringify(fields)}`
  stand.journal.note(`${stand.name}: ${what}`)
  await harmTo(stand.place).published(fields)
  await foundByVerify(stand, what)
})

/** A loader must refuse, and name a command or say that the checkpoint must be restored from a copy. */
const checkpoint = quietly('the checkpoint is deleted', async stand => {
  const { journal, name } = stand
  const putBack = await harmTo(stand.place).checkpoint()
  const { code, said } = await told(stand, ['load', '--once', '--wait', '1m'])
  if (code === 0) journal.wrong(`${name}: a store without its checkpoint was loaded on`)
  const named = remedyIn(said)
  if (named !== undefined) return stand.remedy(named)
  if (!/Restore/.test(said)) journal.wrong(`${name}: no remedy is named: ${said}`)
  await putBack()
  journal.count(`${name}: checkpoints restored by hand, as the message says`)
})

/** Loss and change of data on both stores. */
export const VANISHING: readonly Episode[] = [documents, documents, edited, published, checkpoint]
/** Episodes for Elasticsearch only. */
export const INDICES: readonly Episode[] = [deleteIndex, deleteIndex]
