import { ask } from '../support/stores/ask-elastic.ts'
import { within } from './causes.ts'
import { harmTo } from './damage.ts'
import type { Episode } from './episode.ts'
import { below, pick } from './random.ts'
import { remedyIn, saidIn } from './remedy.ts'
import type { Stand } from './stand.ts'

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
