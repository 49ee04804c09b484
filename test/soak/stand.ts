import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { type Truth, truthAt } from '../generator/truth.ts'
import { cliFolder, type Running } from '../support/processes/cli-process.ts'
import { doomedAtWrite } from '../support/processes/doomed.ts'
import { seeded } from '../support/seeded.ts'
import { type Cause, type Journal, openCauses, within } from './causes.ts'
import { keepLoading, remedyIn, saidIn } from './loader.ts'
import { openGate, type SoakPlace } from './place.ts'
import { questionsOf } from './questions.ts'
import { startReaders } from './readers.ts'

/** A disturbance of a stand, which lasts until all processes have recovered. */
export type Episode = { readonly name: string; readonly play: (stand: Stand) => Promise<void> }

/** An episode with one cause, which is in force while it is played. */
export const episode = (name: string, cause: Cause, work: Episode['play']): Episode => ({
  name,
  play: stand => within(stand.causes, cause, () => work(stand)),
})

export type Stand = Awaited<ReturnType<typeof openStand>>

const FIRST = 120
const BLOCKS = 1_000_000
/** Maximum length of a chain of commands, each named by a message of the one before. */
const MOST_COMMANDS = 8
/** Maximum runs of one command in one episode. The first run may fail because of an operation begun before it. */
const MOST_TRIES = 3
const LOGGED = 1_500
/** Only a permanent hang takes longer. */
const HANG_MS = 300_000

/** One store with all its processes, and the operations on it. */
async function openStand(place: SoakPlace, journal: Journal, seed: number) {
  const { name } = place
  // Separate random sources: the numbers of one part must not depend on the speed of another.
  const [random, readersRandom, loaderRandom] = [seeded(seed), seeded(seed + 1), seeded(seed + 2)]
  const node = serveGenerated({ ...small('mixed', seed), blocks: BLOCKS })
  let end = FIRST
  node.setHeight(end)
  const nodeGate = await openGate(node.url)
  const causes = openCauses()
  const folder = await cliFolder()
  const common = {
    IOSTLENS_LOG_LEVEL: 'warn',
    IOSTLENS_NODE_TIMEOUT: '2s',
    IOSTLENS_LEASE: '4s',
    IOSTLENS_STORE_TIMEOUT: '8s',
  }
  const commands = { ...common, IOSTLENS_STORE: place.store.commands, IOSTLENS_NODE: nodeGate.url }
  const run = (words: readonly string[]) => folder.run(words, commands)
  const created = await run(['indices', 'create'])
  if (created.code !== 0) throw new Error(created.err)
  const made = await run(['keys', 'add', 'soak', '--per-second', '1000000', '--per-day', '1000000000'])
  const key = made.out.trim().split('\n').at(-1) ?? ''

  let service: Running
  let serviceUrl: string | undefined
  const startService = async (): Promise<void> => {
    const { IOSTLENS_LOG_LEVEL } = common
    const environment = { IOSTLENS_LOG_LEVEL, IOSTLENS_STORE: place.store.service }
    service = folder.start(['serve', '--listen', '127.0.0.1:0'], environment)
    serviceUrl = (await service.firstLine).trim()
  }
  await startService()
  const truths = new Map<number, Truth>()
  const truthOf = (height: number): Truth => {
    const known = truths.get(height) ?? truthAt(node.chain.world, height)
    truths.set(height, known)
    for (const oldest of truths.keys()) if (truths.size > 8) truths.delete(oldest)
    return known
  }
  let [episode, before] = [causes.mark(), causes.mark()]
  const tried = new Map<string, number>()
  /** Runs a command named by a message, and the commands that its own messages name. */
  const remedy = async (words: readonly string[]): Promise<void> => {
    let next: readonly string[] | undefined = words
    for (let count = 0; next !== undefined; count++) {
      const text = next.join(' ')
      tried.set(text, (tried.get(text) ?? 0) + 1)
      if (count === MOST_COMMANDS || (tried.get(text) ?? 0) > MOST_TRIES)
        return journal.wrong(`${name}: named again and again, and does not help: iostlens ${text}`)
      journal.note(`${name}: command: iostlens ${next.join(' ')}`)
      journal.count(`${name}: commands run: iostlens ${next.filter(word => !word.includes('://')).join(' ')}`)
      const onlyForth = readers.mayGoBack()
      const { code, out, err } = await run(next.map(word => (word === 'URL' ? nodeGate.url : word)))
      onlyForth()
      const said = `${saidIn(err)} ${out.trim().split('\n').slice(-3).join(' | ')}`
      journal.note(`${name}: command ended with ${code}: ${said}`)
      const named = code === 0 ? undefined : remedyIn(said)
      if (code !== 0 && named === undefined && !causes.since(before).some(({ says }) => says.test(said)))
        journal.wrong(`${name}: iostlens ${next.join(' ')} ended with ${code}: ${said}`)
      next = code === 75 && named === undefined ? undefined : named
    }
  }
  const loader = keepLoading({
    name,
    folder,
    journal,
    causes,
    mark: () => before,
    random: loaderRandom,
    environment: { ...common, IOSTLENS_STORE: place.store.loader, IOSTLENS_NODE: nodeGate.url },
    remedy,
  })
  const readers = startReaders({
    name,
    journal,
    causes,
    draw: questionsOf(node.chain.world, readersRandom),
    services: () => [serviceUrl, loader.url()].filter(url => url !== undefined),
    key: () => key,
    end: () => end,
    truthAt: truthOf,
    logged: () => `${service.logged().slice(-LOGGED)} | ${loader.logged().slice(-LOGGED)}`,
  })
  return {
    name,
    place,
    journal,
    causes,
    random,
    node,
    nodeGate,
    loader,
    readers,
    end: () => end,
    grow: (blocks: number): void => {
      end += blocks
      node.setHeight(end)
    },
    run,
    start: (words: readonly string[]) => folder.start(words, commands),
    remedy,
    /** Environment of a loader that dies at this write into the SQLite file. */
    doomAt: (write: number) => doomedAtWrite(place.path ?? '', write),
    /** Resolves when a service answers at the chain's last height. Records an error when that never happens. */
    settled: (what: string) =>
      unlessHung(
        readers.sees(({ status, height }) => status === 200 && height === end),
        () => `${name}: no recovery after ${what}: nothing is answered from ${end}.`,
        journal,
      ),
    refused: (wanted: number, what: string) =>
      unlessHung(
        readers.sees(({ status }) => status === wanted),
        () => `${name}: ${what}: nothing is answered with ${wanted}.`,
        journal,
      ),
    /** Kills the read-only service, and starts a new one. */
    killService: async () => {
      serviceUrl = undefined
      service.kill('SIGKILL')
      await service.ended
      await startService()
    },
    /** Causes before this moment no longer explain any refusal. */
    beginEpisode: () => {
      before = episode
      episode = causes.mark()
      tried.clear()
    },
    close: async () => {
      await readers.stop()
      await loader.stop()
      service.kill('SIGTERM')
      await folder[Symbol.asyncDispose]()
      await nodeGate.close()
      await node.stop()
      await place.close()
    },
  }
}

async function unlessHung(work: Promise<void>, message: () => string, { failed }: Journal): Promise<void> {
  const ends = Promise.withResolvers<'hangs'>()
  const timer = setTimeout(() => ends.resolve('hangs'), HANG_MS)
  const first = await Promise.race([work, ends.promise, failed])
  clearTimeout(timer)
  if (first === 'hangs') throw new Error(message())
}

type SoakOptions = {
  readonly seed: number
  readonly episodes: readonly Episode[]
  readonly goesOn: (played: number) => boolean
}

/** Plays episodes on one store in a random order, each until all processes have recovered. */
export async function soakOn(
  place: SoakPlace,
  journal: Journal,
  { seed, goesOn, episodes }: SoakOptions,
): Promise<void> {
  const stand = await openStand(place, journal, seed)
  const { name, random } = stand
  try {
    const loaded = stand.causes.begin({ name: 'nothing is loaded', statuses: [0, 503], says: /^\b$/ })
    await stand.settled('the first load')
    loaded()
    let left = shuffled(episodes, random)
    for (let played = 0; goesOn(played) && journal.wrongs.length === 0; played++) {
      if (left.length === 0) left = shuffled(episodes, random)
      const episode = left.pop()
      if (episode === undefined) break
      journal.note(`${name}: episode ${played}: ${episode.name}, at ${stand.end()}`)
      journal.count(`${name}: episodes`)
      stand.beginEpisode()
      await episode.play(stand)
    }
    journal.count(`${name}: blocks`, stand.end() + 1)
  } catch (error) {
    journal.wrong(String(error))
  } finally {
    await stand.close()
  }
}

function shuffled<T>(from: readonly T[], random: () => number): T[] {
  const all = [...from]
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[all[at], all[other]] = [all[other] as T, all[at] as T]
  }
  return all
}
