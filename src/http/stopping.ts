import { type Failure, Restarting } from '#failure/failure.ts'

/** How the stop of the service reaches its requests. */
export type Stopping = {
  /** Aborts when it begins: feeds end, and connections are closed after their next answer. */
  readonly signal: AbortSignal
  /** Ends of the requests under way. */
  readonly running: Set<(reason: Failure) => void>
  begin(): void
  /** Refuses what is still under way. */
  end(): void
}

export const stoppingService = (): Stopping => {
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
