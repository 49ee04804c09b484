import type { Place } from '../stores/place.ts'
import { diesAt } from './doomed.ts'
import { SOAK } from './soak.ts'

/** The work of the loaders: a node's chain up to a height, in batches of at most `documents` documents. */
type Aim = { readonly url: string; readonly to: number; readonly documents: number }

/** The first kill comes at one of this many writes of a load (see `doomed.ts`). The limit then grows, with SOAK slowly. */
const FIRST = { sqlite: 1_200, elastic: 24 } as const
const GROWTH = SOAK ? 1.3 : 1.8

/** Kills loaders at counted writes until one completes. Returns the number of kills. */
export async function killUntilLoaded(
  { args }: Place,
  { url, to, documents }: Aim,
  random: () => number,
): Promise<number> {
  const first = args[0] === 'sqlite' ? FIRST.sqlite : FIRST.elastic
  const task = { program: 'load-process.ts', before: [url], place: args, after: [to, documents].map(String) }
  for (let kills = 0; ; kills++)
    if (!(await diesAt(1 + Math.floor(random() * first * GROWTH ** kills), task))) return kills
}
