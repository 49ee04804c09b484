import { copyFileSync, existsSync, rmSync } from 'node:fs'
import type { Cause } from './causes.ts'
import type { Episode } from './episode.ts'
import { remedyIn, saidIn } from './remedy.ts'
import type { Stand } from './stand.ts'

const MISSING =
  /missing|no such|There is no|gone|another one|closed|alias|in the way|whole|lost|vanish|repair|file/i

const below = (random: () => number, bound: number): number => Math.floor(random() * bound)

/** Everything a file of SQLite consists of. */
const ENDINGS = ['', '-wal', '-shm'] as const

const copyStore = (from: string, to: string): void => {
  for (const ending of ENDINGS) {
    rmSync(`${to}${ending}`, { force: true })
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`)
  }
}

/** The file is deleted under a service and a loader; an older copy of it is put back, as from a backup. */
const replaceFile = async (stand: Stand, path: string): Promise<void> => {
  const { random, loader, readers, journal, name } = stand
  const copy = `${path}.copy`
  const goOn = await loader.hold()
  copyStore(path, copy)
  goOn()
  stand.grow(1 + below(random, 40))
  await stand.settled('a copy that was made')
  loader.kill()
  for (const ending of ENDINGS) rmSync(`${path}${ending}`, { force: true })
  journal.count(`${name}: files deleted`)
  const onlyForth = readers.mayGoBack()
  stand.grow(1 + below(random, 10))
  await stand.refused(503, 'a file that was deleted')
  const again = await loader.hold()
  copyStore(copy, path)
  again()
  await stand.settled('a copy that was put back')
  onlyForth()
}

const ask = async ({ place }: Stand, method: string, path: string, body?: object): Promise<Response> => {
  const { url = '', prefix = '' } = place.server ?? {}
  const answer = await fetch(`${url}/${prefix}-${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

const STATE = ['balances', 'wealth', 'votes', 'accounts', 'lists'] as const

/** The name of the index behind an alias. */
const indexOf = async (stand: Stand, alias: string): Promise<string> => {
  const names = Object.keys((await (await ask(stand, 'GET', alias)).json()) as object)
  return (names[0] ?? '').slice(`${stand.place.server?.prefix}-`.length)
}

const deleteIndex = async (stand: Stand): Promise<void> => {
  const { random, journal, name } = stand
  const index = await indexOf(stand, STATE[below(random, STATE.length)] ?? 'wealth')
  await ask(stand, 'DELETE', index)
  journal.note(`${name}: index ${index} is deleted`)
  journal.count(`${name}: indices deleted`)
  stand.grow(1 + below(random, 20))
}

const vanish: Episode = {
  name: 'an index, or the file, is deleted',
  play: async stand => {
    const cause: Cause = { name: 'deleted', statuses: [0, 503], says: MISSING }
    const end = stand.causes.begin(cause)
    const { path } = stand.place
    await (path === undefined ? deleteIndex(stand) : replaceFile(stand, path))
    await stand.settled('what was deleted')
    end()
  },
}

/** What no service can notice: verify must, and repair must put it right. Nobody asks meanwhile. */
const documents: Episode = {
  name: 'documents are deleted, found by verify and put right by repair',
  play: async stand => {
    const { random, journal, name, loader, readers, place } = stand
    if (place.server === undefined) return vanish.play(stand)
    const end = stand.causes.begin({ name: 'documents deleted', statuses: [0, 503], says: MISSING })
    const goOn = await loader.hold()
    const resume = await readers.pause()
    const index = await indexOf(stand, STATE[below(random, STATE.length)] ?? 'wealth')
    const answer = await ask(stand, 'GET', `${index}/_search?size=200&_source=false`)
    const { hits } = (await answer.json()) as { hits: { hits: readonly { _id: string }[] } }
    const ids = hits.hits.map(({ _id }) => _id).filter(() => random() < 0.05)
    const chosen = ids.length === 0 ? hits.hits.slice(0, 1).map(({ _id }) => _id) : ids
    for (const id of chosen)
      await ask(stand, 'DELETE', `${index}/_doc/${encodeURIComponent(id)}?refresh=true`)
    journal.note(`${name}: ${chosen.length} documents of ${index} are deleted`)
    journal.count(`${name}: documents deleted`, chosen.length)
    const { code, out, err } = await stand.run(['verify'])
    const said = `${saidIn(err)} ${out.trim().split('\n').slice(-3).join(' | ')}`
    journal.note(`${name}: verify ended with ${code}: ${said}`)
    if (code === 0)
      journal.wrong(`${name}: verify found nothing of ${chosen.length} deleted documents of ${index}`)
    await stand.remedy(remedyIn(said) ?? ['repair'])
    resume()
    goOn()
    stand.grow(1 + below(random, 20))
    await stand.settled('documents that were deleted')
    end()
  },
}

/** What takes data away. */
export const VANISHING: readonly Episode[] = [vanish, documents]
