import { within } from '#time/deadline.ts'
import { Told } from './told.ts'

/** The caller closed the connection, so no one reads the answer. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection.')
    this.name = 'ClientGone'
  }
}

/**
 * Runs `work` with a signal that aborts after `ms` milliseconds or when the client goes away, and stops waiting then,
 * whether the work heeds it or not. Throws 'deadline' or ClientGone.
 */
export const withDeadline = async <T>(
  work: (signal: AbortSignal) => Promise<T>,
  { ms, client }: { readonly ms: number; readonly client: AbortSignal },
): Promise<T> => {
  const controller = new AbortController()
  const stop = (reason: Error): Error => {
    controller.abort(reason)
    return reason
  }
  const gone = (): Error => stop(new ClientGone())
  // The work then begins with a signal that has aborted.
  if (client.aborted) gone()
  return within(work(controller.signal), {
    signal: client,
    aborted: gone,
    ms,
    late: () =>
      stop(
        new Told('deadline', `The request took longer than ${ms} ms.`, {
          zh: `处理时间超过 ${ms} 毫秒。`,
        }),
      ),
  })
}
