import { join } from 'node:path'
import { fixed, whole } from '../measure.ts'
import { cpuOf, memoryOf, type Running, talking } from '../processes.ts'

/** Feeds that readers follow, all with or all without head blocks. */
export type Followed = { readonly name: string; readonly paths: readonly string[] }

type Measuring = { readonly readers: number; readonly seconds: number; readonly key: string }

/** Time between the opening of the last feed and the measurement, for compilers and collectors to finish. */
const SETTLE_MS = 5_000

/** Cells of a table row: the cost of a number of readers to a service. */
export const feedsRow = async (
  { url, pid }: Running,
  { name, paths }: Followed,
  { readers, seconds, key }: Measuring,
): Promise<readonly string[]> => {
  const memory = memoryOf(pid)
  await Bun.sleep(1_000)
  const before = memory.samples.at(-1) ?? 0
  const program = join(import.meta.dir, 'readers.ts')
  const flags = ['--url', url, '--key', key, '--count', String(readers)]
  const client = await talking([process.execPath, program, ...flags, ...paths])
  await Bun.sleep(SETTLE_MS)
  const tally = async () => JSON.parse(await client.ask()) as { readonly events: number; readonly ended: number }
  const [first, cpuBefore] = [await tally(), await cpuOf(pid)]
  await Bun.sleep(seconds * 1_000)
  const [last, cpuAfter] = [await tally(), await cpuOf(pid)]
  await client.stop()
  const most = Math.max(...memory.stop())
  if (last.ended > 0) throw new Error(`${last.ended} feeds of ${name} were ended.`)
  const [cpu, events] = [(cpuAfter ?? 0) - (cpuBefore ?? 0), last.events - first.events]
  return [
    name,
    whole(readers),
    fixed(events / seconds / readers),
    whole(before),
    whole(most),
    fixed(((most - before) * 1_024) / readers, 1),
    `${fixed((100 * cpu) / seconds, 1)} %`,
    fixed((1_000_000 * cpu) / seconds / readers, 1),
    events === 0 ? '–' : fixed((1_000_000 * cpu) / events, 1),
  ]
}

export const FEED_COLUMNS = [
  ...['feeds', 'readers', 'events a second each', 'MB before', 'MB at most', 'KB each'],
  ...['CPU', 'µs a second each', 'µs an event'],
] as const
