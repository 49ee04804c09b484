/** Resolves in the next turn of the event loop, after the timers and signals that are due. */
export const yieldEventLoop = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
