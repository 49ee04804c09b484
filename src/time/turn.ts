/** Resolves in the next turn of the event loop, after the timers and signals that are due. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
