import { Told } from './told.ts'

/** The caller hung up: nobody reads the answer. */
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
  const stopped = Promise.withResolvers<never>()
  const stop = (reason: Error): void => {
    controller.abort(reason)
    stopped.reject(reason)
  }
  const late = (): void =>
    stop(
      new Told('deadline', `The request took longer than ${ms} ms.`, {
        zh: `处理时间超过 ${ms} 毫秒。`,
      }),
    )
  const gone = (): void => stop(new ClientGone())
  const timer = setTimeout(late, ms)
  client.addEventListener('abort', gone, { once: true })
  if (client.aborted) gone()
  try {
    return await Promise.race([stopped.promise, work(controller.signal)])
  } finally {
    clearTimeout(timer)
    client.removeEventListener('abort', gone)
  }
}
