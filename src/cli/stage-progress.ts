import type { Log } from '#failure/log.ts'
import { createPace } from '#time/pace.ts'
import { timeText } from './progress.ts'
import type { Screen } from './stderr.ts'

/** Interval of log lines when there is no terminal. */
const INTERVAL_MS = 10_000

/** Progress of a stage of a long command; `of` undefined: the total is unknown. */
export type Stage = { readonly stage: string; readonly done: number; readonly of?: number | undefined }

type Options = {
  readonly screen: Screen
  readonly log: Log
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Names of the command's work, for the bar and for the log. */
  readonly doing: { readonly bar: string; readonly log: string }
}

/**
 * Shows the progress, the rate and the time left of a command: a line that is redrawn on a terminal,
 * otherwise a log line per interval.
 */
export const stageProgress = ({ screen, log, now, doing }: Options): ((at: Stage) => void) => {
  let known = ''
  let pace = createPace()
  let lastLine = now()
  return at => {
    if (at.stage !== known) {
      known = at.stage
      pace = createPace()
    }
    pace.note(now(), at.done)
    const figures = {
      ...at,
      perSecond: Math.round(pace.perSecond()),
      left: secondsLeft(at, pace.perSecond()),
    }
    if (screen.isTerminal) screen.bar(barText(doing.bar, figures))
    else if (now() - lastLine >= INTERVAL_MS) {
      lastLine = now()
      log('info', doing.log, fieldsOf(figures))
    }
  }
}

/** Seconds left; undefined: unknown. */
const secondsLeft = ({ done, of }: Stage, perSecond: number): number | undefined =>
  of === undefined || perSecond <= 0 ? undefined : Math.ceil(Math.max(0, of - done) / perSecond)

type Figures = Stage & { readonly perSecond: number; readonly left: number | undefined }

const barText = (doing: string, { stage, done, of, perSecond, left }: Figures): string => {
  const share = of === undefined || of === 0 ? '' : ` of ${of} (${Math.floor((100 * done) / of)} %)`
  const time = left === undefined || left === 0 ? '' : `  ${timeText(left)} left`
  return `${doing} ${stage}: ${done}${share}  ${perSecond}/s${time}`
}

const fieldsOf = ({ stage, done, of, perSecond, left }: Figures) => ({
  stage,
  done,
  ...(of === undefined ? {} : { of }),
  per_second: perSecond,
  ...(left === undefined ? {} : { seconds_left: left }),
})
