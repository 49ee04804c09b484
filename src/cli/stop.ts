/** Aborts at the first SIGINT or SIGTERM; a second one ends the process at once, with the signal's usual code. */
export const stopSignal = (): AbortSignal => {
  const controller = new AbortController()
  const on = (name: 'SIGINT' | 'SIGTERM', number: number): void => {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + number)
      controller.abort()
    })
  }
  on('SIGINT', 2)
  on('SIGTERM', 15)
  return controller.signal
}

/** Resolves when the signal aborts. */
export const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
