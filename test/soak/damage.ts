import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { lists } from '#indices/list.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { readAll } from '../support/stores/damage.ts'
import { below, pick } from './causes.ts'
import { remedyIn, saidIn } from './loader.ts'
import { type Episode, episode, type Stand } from './stand.ts'

const DAMAGED = 'accounts balances blocks contracts lists records tokens transactions votes wealth'.split(' ')
const damaged = [...historyIndices, ...stateIndices].filter(({ name }) => DAMAGED.includes(name))

/** Some documents of the first ones of an index, at most a dozen. */
async function pickSome<I extends AnyIndex>({ place, random }: Stand, index: I) {
  const store = place.harm.reopen()
  try {
    const docs = await readAll({ store }, index, true)
    const count = 1 + below(random, 12)
    const from = below(random, Math.max(1, docs.length - count))
    return docs.slice(from, from + count)
  } finally {
    await store.close()
  }
}

// Operations on the file of a SQLite store, like those of an operator with a backup.

const SAYS = /file|replaced|removed|another chain|no store|nothing is loaded|gone/i

const ENDINGS = ['', '-wal', '-shm'] as const

function removeStore(path: string): void {
  for (const ending of ENDINGS) rmSync(`${path}${ending}`, { force: true })
}

function copyStore(from: string, to: string): void {
  removeStore(to)
  for (const ending of ENDINGS.toReversed())
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`)
}

/** Puts a store in place, file last, while nothing writes to it. */
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
): Episode =>
  episode(name, { name, statuses: [0, 503], says: SAYS }, async stand => {
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

const deleteIndex = episode(
  'an index is deleted',
  { name: 'index deleted', statuses: [0, 503], says: MISSING },
  async stand => {
    const { random, journal, name, place } = stand
    const { server = '' } = place
    const behind = await ask<object>('GET', `${server}-${pick(random, STATE)}`)
    const index = Object.keys(behind)[0] ?? ''
    await ask('DELETE', `${new URL(server).origin}/${index}`)
    journal.note(`${name}: index ${index} is deleted`)
    journal.count(`${name}: indices deleted`)
    stand.grow(1 + below(random, 20))
    await stand.settled('an index that was deleted')
  },
)

/** The messages and the exit code of a command that runs while there are no requests and no loader. */
async function told(stand: Stand, words: readonly string[]) {
  const { code, out, err } = await stand.run(words)
  const said = `${saidIn(err)} ${out.trim().split('\n').slice(-3).join(' | ')}`
  stand.journal.note(`${stand.name}: ${words[0]} ended with ${code}: ${said}`)
  return { code, said }
}

/** Damage while the loader rests and no requests are sent. `work` repairs it. */
const quietly = (name: string, work: (stand: Stand) => Promise<void>): Episode =>
  episode(name, { name, statuses: [0, 503], says: MISSING }, async stand => {
    const { random, journal, loader, readers } = stand
    const goOn = await loader.hold()
    const resume = await readers.pause()
    await work(stand)
    journal.count(`${stand.name}: ${name}`)
    resume()
    goOn()
    stand.grow(1 + below(random, 20))
    await stand.settled(name)
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
  const index = pick(stand.random, damaged)
  const some = await pickSome(stand, index)
  for (const { id } of some) await stand.place.harm.remove(index, id)
  const what = `${some.length} documents of ${index.name}`
  stand.journal.note(`${stand.name}: ${what} are deleted`)
  await foundByVerify(stand, `${what} were deleted`)
})

const edited = quietly('documents are edited', async stand => {
  const some = await pickSome(stand, lists)
  for (const { id, doc } of some) await stand.place.harm.change(lists, id, 'count', doc.count + 1)
  stand.journal.note(`${stand.name}: one row more is counted in ${some.length} lists`)
  await foundByVerify(stand, `${some.length} lists were edited`)
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
  await stand.place.harm.say('published', fields)
  await foundByVerify(stand, what)
})

/** A loader must refuse, and name a command or say that the checkpoint must be restored from a copy. */
const checkpoint = quietly('the checkpoint is deleted', async stand => {
  const { journal, name, place } = stand
  const putBack = await place.harm.keep('checkpoint')
  await place.harm.lose('checkpoint')
  const { code, said } = await told(stand, ['load', '--once', '--wait', '1m'])
  if (code === 0) journal.wrong(`${name}: a store without its checkpoint was loaded on`)
  const named = remedyIn(said)
  if (named !== undefined) return stand.remedy(named)
  if (!/Restore/.test(said)) journal.wrong(`${name}: no remedy is named: ${said}`)
  await putBack()
  journal.count(`${name}: checkpoints restored by hand, as the message says`)
})

export const VANISHING: readonly Episode[] = [documents, documents, edited, published, checkpoint]
export const INDICES: readonly Episode[] = [deleteIndex, deleteIndex]
