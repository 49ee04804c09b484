import type { ScrapedMetric } from '#metrics/expose.ts'
import type { Store } from '#store/port.ts'
import type { DiskRoom } from '#store/server-report.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'

/** Maximum wait for a server's disks: the other metrics of a scrape must not wait for a store that hangs. */
const WAIT_MS = 1_000
/** Time for which one reading serves: the metrics of a scrape share it. */
const KEPT_MS = 500

type DisksFrom = { readonly store: Pick<Store, 'disks'>; readonly clock: Pick<Clock, 'elapsed'> }

/** The room on the disks of the store, by server, or by folder for an embedded store; no value while it is unknown. */
export function diskReadings({ store, clock }: DisksFrom): readonly ScrapedMetric[] {
  let kept: { readonly disks: Promise<readonly DiskRoom[]>; readonly until: number } | undefined
  const readDisks = (): Promise<readonly DiskRoom[]> => {
    if (kept === undefined || clock.elapsed() >= kept.until)
      kept = { disks: within(store.disks(), { ms: WAIT_MS }).catch(() => []), until: clock.elapsed() + KEPT_MS }
    return kept.disks
  }
  const gauge = (name: string, help: string, bytesOf: (disk: DiskRoom) => number): ScrapedMetric => ({
    ...{ name, help, type: 'gauge', labels: ['disk'] },
    read: async () => (await readDisks()).map(disk => ({ labels: [disk.server], value: bytesOf(disk) })),
  })
  return [
    gauge('iostlens_disk_free_bytes', "Free space on a disk that has the store's data.", disk => disk.freeBytes),
    gauge('iostlens_disk_size_bytes', 'Size of that disk.', disk => disk.totalBytes),
  ]
}
