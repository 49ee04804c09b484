import type { FromThread, ToThread } from './messages.ts'

/** A thread as the one that started it sees it. */
export type Thread<To = ToThread> = {
  post(message: To): void
  /** Ends it at once, whatever it does; its connections are closed. */
  end(): void
}

export type ThreadListener<From = FromThread> = {
  readonly message: (message: From) => void
  /** It has ended, and everything it had open is closed; `reason` is what it died of. */
  readonly ended: (reason: string) => void
}

export type OpenThread<To = ToThread, From = FromThread> = (listener: ThreadListener<From>) => Thread<To>

/** Opens threads that run a program. */
export const workersOf =
  <To = ToThread, From = FromThread>(program: URL): OpenThread<To, From> =>
  ({ message, ended }) => {
    const worker = new Worker(program.href)
    let reason: string | undefined
    worker.addEventListener('message', ({ data }: MessageEvent<From>) => message(data))
    worker.addEventListener('error', event => {
      event.preventDefault()
      reason = errorIn(event.message)
    })
    worker.addEventListener('close', ({ code }) => ended(reason ?? `it ended with code ${code}`))
    return { post: data => worker.postMessage(data), end: () => worker.terminate() }
  }

/** The error's own line: Bun puts an excerpt of the source before it and its stack behind. */
const errorIn = (text: string): string => /^(?:\w*Error|error): .*$/m.exec(text)?.[0] ?? text.trim()
