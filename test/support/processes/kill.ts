import type { Place } from '../stores/place.ts'
import { diesAt } from './doomed.ts'

/** What the loaders load: a node's chain up to a height, in batches of at most so many documents. */
type Aim = { readonly url: string; readonly to: number; readonly documents: number }

/** Of all writes of a load (see `doomed.ts`), among how many the first kill comes; what a loader may write then grows. */
const FIRST = { sqlite: 1_200, elastic: 24 } as const
const GROWTH = 1.3

/** Kills loaders at counted writes until one comes to its end; how many were killed. */
export const killUntilLoaded = async (
  { args }: Place,
  { url, to, documents }: Aim,
  random: () => number,
): Promise<number> => {
  const first = args[0] === 'sqlite' ? FIRST.sqlite : FIRST.elastic
  const task = { program: 'load-process.ts', before: [url], place: args, after: [to, documents].map(String) }
  for (let kills = 0; ; kills++)
    if (!(await diesAt(1 + Math.floor(random() * first * GROWTH ** kills), task))) return kills
}
