import { formatGrouped } from '#explorer/format/amount.ts'
import type { Log } from '#failure/failure.ts'
import type { StageTimes } from '#load/fill.ts'
import type { LoadProgress } from '#load/session.ts'
import { createPace, systemClock } from '#time/clock.ts'
import type { Screen } from './stderr.ts'

/** Window of the rates, about ten seconds: long enough for steady figures, short enough to follow changes. */
const WINDOW_MS = 10_000

/** The part that a load waits for most; `deriving`: its own work. */
export const LIMITS = ['node', 'deriving', 'store'] as const satisfies readonly (keyof StageTimes)[]
type PaceLimit = (typeof LIMITS)[number]

/** Progress of a load. Rates are per second. */
export type LoadPace = {
  readonly height: number
  readonly target: number
  /** Fraction loaded, 0 … 1. */
  readonly share: number
  readonly blocks: number
  readonly transactions: number
  /** Rate of blocks, transactions and records together. */
  readonly documents: number
  /** undefined: the load makes no progress. */
  readonly secondsLeft: number | undefined
  /** undefined: nothing was loaded recently. */
  readonly limit: PaceLimit | undefined
}

/** Measures the pace of a load; `now`: milliseconds, monotonic. */
function paceKeeper(now: () => number, from: number) {
  const paces = {
    blocks: createPace(WINDOW_MS),
    transactions: createPace(WINDOW_MS),
    documents: createPace(WINDOW_MS),
    node: createPace(WINDOW_MS),
    deriving: createPace(WINDOW_MS),
    store: createPace(WINDOW_MS),
  }
  let last: LoadProgress | undefined
  const noteAll = ({ height, blocks, transactions, records, spent }: LoadProgress): void => {
    const counts = { blocks: height, transactions, documents: blocks + transactions + records, ...spent }
    for (const [name, pace] of Object.entries(paces)) pace.note(now(), counts[name as keyof typeof counts])
    notedAt = now()
  }
  let notedAt = now()
  for (const [name, pace] of Object.entries(paces)) pace.note(notedAt, name === 'blocks' ? from : 0)
  return {
    note: (progress: LoadProgress): void => {
      last = progress
      noteAll(progress)
    },
    /** The pace at this moment: the rates of a stalled load fall. undefined: nothing was committed yet. */
    now: (): LoadPace | undefined => {
      if (last === undefined) return undefined
      if (now() - notedAt > WINDOW_MS) noteAll(last)
      const { height, target } = last
      const blocks = paces.blocks.perSecond()
      const limit = LIMITS.toSorted((a, b) => paces[b].perSecond() - paces[a].perSecond())[0]
      return {
        height,
        target,
        share: target <= 0 ? 1 : Math.min(1, Math.max(0, height / target)),
        blocks,
        transactions: paces.transactions.perSecond(),
        documents: paces.documents.perSecond(),
        secondsLeft: blocks <= 0 ? undefined : Math.max(0, Math.ceil((target - height) / blocks)),
        limit: limit === undefined || paces[limit].perSecond() === 0 ? undefined : limit,
      }
    },
  }
}

/** Interval of log lines when there is no terminal. */
const INTERVAL_MS = 10_000
/** Maximum progress between two updates of a chain that is being followed; more is a load. */
const HEAD_BLOCKS = 100

type ProgressOptions = {
  readonly screen: Screen
  readonly log: Log
  /** Milliseconds, monotonic; the machine's clock by default. */
  readonly now?: () => number
}

export type ProgressView = {
  update(progress: LoadProgress): void
  /** The current progress of the load; undefined: nothing was committed yet. */
  pace(): LoadPace | undefined
  /** Called when the load is over, for now or for good. */
  end(): void
}

/**
 * Shows the progress of a load, as a bar on a terminal, otherwise as a log line per interval. Both have the
 * rates, the time left and the limiting part. `from`: the last loaded height, −1: nothing.
 */
export function progressView({
  screen,
  log,
  now = systemClock.elapsed,
  from,
}: ProgressOptions & { readonly from: number }): ProgressView {
  const keeper = paceKeeper(now, from)
  let lastLine = Number.NEGATIVE_INFINITY
  let behind = false
  const line = (): void => {
    const pace = keeper.now()
    if (pace === undefined) return
    lastLine = now()
    log('info', 'Loaded blocks.', {
      height: pace.height,
      target: pace.target,
      percent: toPercent(pace.share),
      blocks_per_second: Math.round(pace.blocks),
      transactions_per_second: Math.round(pace.transactions),
      documents_per_second: Math.round(pace.documents),
      ...(pace.secondsLeft === undefined ? {} : { seconds_left: pace.secondsLeft }),
      ...(pace.limit === undefined ? {} : { limited_by: pace.limit }),
    })
  }
  return {
    update: progress => {
      keeper.note(progress)
      const pace = keeper.now()
      const away = progress.target - progress.height
      if (screen.isTerminal) {
        if (pace !== undefined) screen.bar(barText(pace, screen.columns()))
        if (away === 0 && behind) screen.keepBar()
      } else if (now() - lastLine >= INTERVAL_MS || (away === 0 && behind)) line()
      behind = away > HEAD_BLOCKS || (behind && away > 0)
    },
    pace: keeper.now,
    end: () => {
      if (!screen.isTerminal && behind) line()
      screen.keepBar()
    },
  }
}

/** Percentage, rounded down: 100 % appears only when nothing is left. */
const toPercent = (share: number): number => Math.floor(share * 1_000) / 10

/** `[=====>    ]  42.0 %  block 2,038 of 4,851  1,210 blocks/s  3 s left  …`, fitted into `columns`. */
export function barText(pace: LoadPace, columns: number): string {
  const { height, target, share, secondsLeft, limit } = pace
  const isDone = height >= target
  const needed = [
    `${toPercent(share).toFixed(1).padStart(5)} %`,
    `block ${formatGrouped(String(Math.max(0, height)))} of ${formatGrouped(String(target))}`,
    `${formatGrouped(String(Math.round(pace.blocks)))} blocks/s`,
    ...(secondsLeft === undefined || isDone ? [] : [`${timeText(secondsLeft)} left`]),
  ]
  const more = [
    ...(limit === undefined || isDone ? [] : [`limited by ${limit === 'deriving' ? limit : `the ${limit}`}`]),
    `${formatGrouped(String(Math.round(pace.documents)))} documents/s`,
    `${formatGrouped(String(Math.round(pace.transactions)))} transactions/s`,
  ]
  let text = needed.join('  ')
  for (const part of more) if (text.length + part.length + 2 <= columns - 15) text += `  ${part}`
  const width = Math.min(30, columns - text.length - 5)
  if (width < 5) return text
  const full = Math.floor(share * width)
  const bar = full >= width ? '='.repeat(width) : `${'='.repeat(full)}>`.padEnd(width)
  return `[${bar}] ${text}`
}

/** A duration in at most two units: `3 h 12 min`. */
function timeText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
}

/** Progress of a stage of a long command; `of` undefined: the total is unknown. */
export type Stage = { readonly stage: string; readonly done: number; readonly of?: number | undefined }

/**
 * Shows the progress, the rate and the time left of a command: a line that is redrawn on a terminal,
 * otherwise a log line per interval. `doing`: names of its work, for the bar and for the log.
 */
export function stageProgress(
  { screen, log, now = systemClock.elapsed }: ProgressOptions,
  doing: { readonly bar: string; readonly log: string },
): (at: Stage) => void {
  let known = ''
  let pace = createPace()
  let lastLine = now()
  return ({ stage, done, of }) => {
    if (stage !== known) {
      known = stage
      pace = createPace()
    }
    pace.note(now(), done)
    const rate = pace.perSecond()
    const perSecond = Math.round(rate)
    const left = of === undefined || rate <= 0 ? undefined : Math.ceil(Math.max(0, of - done) / rate)
    if (screen.isTerminal) screen.bar(`${doing.bar} ${formatStage({ stage, done, of }, perSecond, left)}`)
    else if (now() - lastLine >= INTERVAL_MS) {
      lastLine = now()
      log('info', doing.log, {
        stage,
        done,
        ...(of === undefined ? {} : { of }),
        per_second: perSecond,
        ...(left === undefined ? {} : { seconds_left: left }),
      })
    }
  }
}

function formatStage({ stage, done, of }: Stage, perSecond: number, left: number | undefined): string {
  const share = of === undefined || of === 0 ? '' : ` of ${of} (${Math.floor((100 * done) / of)} %)`
  const time = left === undefined || left === 0 ? '' : `  ${timeText(left)} left`
  return `${stage}: ${done}${share}  ${perSecond}/s${time}`
}
