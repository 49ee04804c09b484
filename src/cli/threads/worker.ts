/** A thread, seen from the thread that started it. */
export type Thread<To> = {
  post(message: To): void
  /** Ends the thread at once, even while it works; its connections are closed. */
  end(): void
}

export type ThreadListener<From> = {
  readonly message: (message: From) => void
  /** Called when the thread has ended and everything it had open is closed; `reason` is the cause. */
  readonly ended: (reason: string) => void
}

export type OpenThread<To, From> = (listener: ThreadListener<From>) => Thread<To>

/** Returns a function that opens threads running a program. */
export const createWorkerOpener =
  <To, From>(program: URL): OpenThread<To, From> =>
  ({ message, ended }) => {
    const worker = new Worker(program.href)
    let reason: string | undefined
    worker.addEventListener('message', ({ data }: MessageEvent<From>) => message(data))
    worker.addEventListener('error', event => {
      event.preventDefault()
      reason = findErrorLine(event.message)
    })
    worker.addEventListener('close', ({ code }) => ended(reason ?? `it ended with code ${code}`))
    return { post: data => worker.postMessage(data), end: () => worker.terminate() }
  }

/** The line of the error itself: Bun prints an excerpt of the source before it and the stack after it. */
const findErrorLine = (text: string): string => /^(?:\w*Error|error): .*$/m.exec(text)?.[0] ?? text.trim()
