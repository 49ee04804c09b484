/** A heap that is full, and a service whose machine is too busy. */
const FOR_NOW: ReadonlySet<number> = new Set([429, 503])
const TRIES = 120
const PAUSE_MS = 500

/** Asks again while a server refuses for the moment; the last answer. */
export const untilTaken = async (ask: () => Promise<Response>): Promise<Response> => {
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if (!FOR_NOW.has(answer.status) || tries === TRIES) return answer
    await answer.body?.cancel()
    await Bun.sleep(PAUSE_MS)
  }
}
