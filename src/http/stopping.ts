import { type Failure, Restarting } from '#failure/failure.ts'

/** The stop of the service, for its requests. */
export type Stopping = {
  /** Aborts when the stop begins: feeds end, and connections are closed after their next answer. */
  readonly signal: AbortSignal
  /** Functions that end the requests in progress. */
  readonly running: Set<(reason: Failure) => void>
  begin(): void
  /** Refuses the requests that are still in progress. */
  end(): void
}

export function stoppingService(): Stopping {
  const controller = new AbortController()
  const running: Stopping['running'] = new Set()
  return {
    signal: controller.signal,
    running,
    begin: () => controller.abort(),
    end: () => {
      for (const refuse of [...running]) refuse(STOPPING)
    },
  }
}

const STOPPING = new Restarting('unavailable', 'The service is stopping; try again.', {
  zh: '服务正在停止；请重试。',
})
