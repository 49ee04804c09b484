import type { Journal } from './causes.ts'
import type { SoakPlace } from './place.ts'
import type { Episode } from './stand.ts'
import { openStand } from './stand.ts'

type SoakOptions = {
  readonly seed: number
  /** The episodes to play. */
  readonly episodes: readonly Episode[]
  /** Whether another episode follows after this many. */
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
    // Every episode once, then random ones.
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
