import type { Looked } from '#audit/audit.ts'
import type { Log } from '#failure/log.ts'
import { createPace } from '#time/pace.ts'
import type { Screen } from './stderr.ts'

/** Without a terminal: one line in this time. */
const INTERVAL_MS = 10_000

/** Shows how far an audit is and how quick: a line that is drawn over on a terminal, else a log line per interval. */
export const auditProgress = (options: {
  readonly screen: Screen
  readonly log: Log
  /** Milliseconds, monotonic. */
  readonly now: () => number
}): ((looked: Looked) => void) => {
  const { screen, log, now } = options
  let stage = ''
  let pace = createPace()
  let lastLine = now()
  return looked => {
    if (looked.stage !== stage) {
      stage = looked.stage
      pace = createPace()
    }
    pace.note(now(), looked.done)
    const rate = Math.round(pace.perSecond())
    const of = looked.of === undefined ? '' : ` of ${looked.of}`
    if (screen.isTerminal) screen.bar(`Checking ${stage}: ${looked.done}${of}  ${rate}/s`)
    else if (now() - lastLine >= INTERVAL_MS) {
      lastLine = now()
      log('info', 'Checked stored data.', {
        stage,
        done: looked.done,
        ...(looked.of === undefined ? {} : { of: looked.of }),
        per_second: rate,
      })
    }
  }
}
