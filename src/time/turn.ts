/** Resolves in the next turn of the event loop: what waits there runs first, deadlines and signals among it. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
