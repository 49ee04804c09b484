/** Statuses of a temporary refusal: a full heap of Elasticsearch, and a service on a busy machine. */
const FOR_NOW: ReadonlySet<number> = new Set([429, 503])
const TRIES = 120
const PAUSE_MS = 500

/** Repeats a request while a server refuses it temporarily; returns the last answer. */
export const untilTaken = async (ask: () => Promise<Response>): Promise<Response> => {
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if (!FOR_NOW.has(answer.status) || tries === TRIES) return answer
    await answer.body?.cancel()
    await Bun.sleep(PAUSE_MS)
  }
}
