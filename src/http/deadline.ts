import type { Failure } from '#failure/failure.ts'
import { within } from '#time/deadline.ts'
import { Told } from './told.ts'

/** The caller closed the connection, so no one reads the answer. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection.')
    this.name = 'ClientGone'
  }
}

type Limits = {
  readonly ms: number
  readonly client: AbortSignal
  /** While the work runs, the function that ends it when the service stops is in here. */
  readonly running?: Set<(reason: Failure) => void> | undefined
}

/**
 * Runs `work` with a signal that aborts after `ms` milliseconds or when the client goes away, and stops waiting then,
 * whether the work heeds it or not. Throws 'deadline', ClientGone, or the failure with which the service ends the work.
 */
export const withDeadline = async <T>(
  work: (signal: AbortSignal) => Promise<T>,
  { ms, client, running }: Limits,
): Promise<T> => {
  const controller = new AbortController()
  const stop = (reason: Error): Error => {
    controller.abort(reason)
    return reason
  }
  const gone = (): Error => stop(new ClientGone())
  // The work then begins with a signal that has aborted.
  if (client.aborted) gone()
  else client.addEventListener('abort', gone, { once: true })
  running?.add(stop)
  try {
    return await within(work(controller.signal), {
      signal: controller.signal,
      ms,
      late: () =>
        stop(
          new Told('deadline', `The request took longer than ${ms} ms.`, {
            zh: `处理时间超过 ${ms} 毫秒。`,
          }),
        ),
    })
  } finally {
    client.removeEventListener('abort', gone)
    running?.delete(stop)
  }
}
