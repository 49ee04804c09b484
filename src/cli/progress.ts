import type { Log } from '#failure/log.ts'
import type { Progress } from '#load/load-options.ts'
import { createPace } from '#time/pace.ts'
import type { Screen } from './stderr.ts'

/** Rates are over about the last ten seconds: steady enough to read, quick enough to follow. */
const WINDOW_MS = 10_000
/** Without a terminal: one line in this time. */
const INTERVAL_MS = 10_000
/** A chain that is followed moves this little between two updates; more than that is a load. */
const HEAD_BLOCKS = 100

export type ProgressView = {
  update(progress: Progress): void
  /** The load is over, for now or for good. */
  end(): void
}

export type Rate = { readonly blocksPerSecond: number; readonly recordsPerSecond: number }

/** Shows how far a load is: a bar on a terminal, else a log line per interval; both with rate and time left. */
export const progressView = (options: {
  readonly screen: Screen
  readonly log: Log
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Last height that is loaded already, −1: nothing. */
  readonly from: number
}): ProgressView => {
  const { screen, log, now, from } = options
  const [blocks, records] = [createPace(WINDOW_MS), createPace(WINDOW_MS)]
  blocks.note(now(), from)
  records.note(now(), 0)
  const rateNow = (): Rate => ({ blocksPerSecond: blocks.perSecond(), recordsPerSecond: records.perSecond() })
  let lastLine = Number.NEGATIVE_INFINITY
  let last: Progress | undefined
  let behind = false
  const line = (progress: Progress): void => {
    lastLine = now()
    const { blocksPerSecond, recordsPerSecond } = rateNow()
    const left = secondsLeft(progress, blocksPerSecond)
    log('info', 'Loaded blocks.', {
      height: progress.height,
      target: progress.target,
      blocks_per_second: Math.round(blocksPerSecond),
      records_per_second: Math.round(recordsPerSecond),
      ...(left === undefined ? {} : { seconds_left: left }),
    })
  }

  return {
    update: progress => {
      const at = now()
      last = progress
      blocks.note(at, progress.height)
      records.note(at, progress.records)
      const away = progress.target - progress.height
      if (screen.isTerminal) {
        screen.bar(barText(progress, rateNow(), screen.columns()))
        if (away === 0 && behind) screen.keepBar()
      } else if (at - lastLine >= INTERVAL_MS || (away === 0 && behind)) line(progress)
      behind = away > HEAD_BLOCKS || (behind && away > 0)
    },
    end: () => {
      if (last !== undefined && !screen.isTerminal && behind) line(last)
      screen.keepBar()
    },
  }
}

const secondsLeft = ({ height, target }: Progress, blocksPerSecond: number): number | undefined =>
  blocksPerSecond <= 0 ? undefined : Math.max(0, Math.ceil((target - height) / blocksPerSecond))

/** `[=====>    ]  42.0 %  block 2,038 of 4,851  1,210 blocks/s  8,021 rows/s  3 s left`, as wide as `columns` allow. */
export const barText = (progress: Progress, rate: Rate, columns: number): string => {
  const { height, target } = progress
  const share = target <= 0 ? 1 : Math.min(1, Math.max(0, height / target))
  const left = secondsLeft(progress, rate.blocksPerSecond)
  const parts = [
    // Cut, not rounded: 100 % is said when nothing is left.
    `${(Math.floor(share * 1_000) / 10).toFixed(1).padStart(5)} %`,
    `block ${grouped(Math.max(0, height))} of ${grouped(target)}`,
    `${grouped(Math.round(rate.blocksPerSecond))} blocks/s`,
    `${grouped(Math.round(rate.recordsPerSecond))} rows/s`,
    ...(left === undefined || height >= target ? [] : [`${timeText(left)} left`]),
  ]
  const text = parts.join('  ')
  const width = Math.min(30, columns - text.length - 5)
  if (width < 5) return text
  const full = Math.floor(share * width)
  const bar = full >= width ? '='.repeat(width) : `${'='.repeat(full)}>`.padEnd(width)
  return `[${bar}] ${text}`
}

const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',')

/** A time in words of at most two units: `3 h 12 min`. */
export const timeText = (seconds: number): string => {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
}
