import { readFileSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import { awaitLimitedAfterAbort } from '#time/deadline.ts'
import type { CommandCall } from './command.ts'

/**
 * Aborts at the first SIGINT, SIGTERM or SIGHUP (a closed terminal); a second one ends the process at once, with the
 * usual exit code of the signal.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const on = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP', number: number): void => {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + number)
      controller.abort()
    })
  }
  on('SIGINT', 2)
  on('SIGTERM', 15)
  if (!isHangupIgnored()) on('SIGHUP', 1)
  return controller.signal
}

/** Whether the process was started to outlive its terminal (`nohup`): a handler would undo that. */
function isHangupIgnored(): boolean {
  try {
    const [, mask = ''] = /^SigIgn:\s*[0-9a-f]*([0-9a-f])$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return Number.parseInt(mask, 16) % 2 === 1
  } catch {
    return false
  }
}

/** Runs work that shows a bar, and removes the bar. Throws `stopped` for any failure after the command was stopped. */
export async function withBar<T>(
  { screen, signal }: Pick<CommandCall, 'screen' | 'signal'>,
  stopped: Failure,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw signal.aborted ? stopped : error
  } finally {
    screen.bar('')
  }
}

export const waitUntilStopped = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/**
 * The result of `work`. A command that was asked to stop but still waits for a server is abandoned after
 * `afterMs`, which is safe because every step may be interrupted anywhere. Throws 'deadline' then.
 */
export const abandonWhenStopped = <T>(work: Promise<T>, signal: AbortSignal, afterMs: number): Promise<T> =>
  awaitLimitedAfterAbort(work, {
    signal,
    ms: afterMs,
    late: () => new Failure('deadline', `Stopped before the end: a server did not answer for ${afterMs} ms.`),
  })
