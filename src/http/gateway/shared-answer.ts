import type { ForwardedResponse, NodeResponse } from '#node/port.ts'

/** An answer whose bytes count until `release`. */
export type TakenResponse = NodeResponse & { readonly release: () => void }

/**
 * One answer of a node for several readers. Its bytes are stored once, and count until the last reader releases them.
 */
export type SharedAnswer = Pick<ForwardedResponse, 'status' | 'contentType' | 'body' | 'isUsable'> & {
  take(): TakenResponse
}

export function shareAnswer(passed: ForwardedResponse): SharedAnswer {
  const { status, contentType, body, isUsable } = passed
  let holders = 0
  return {
    status,
    contentType,
    body,
    isUsable,
    take: () => {
      let isHeld = true
      holders += 1
      const release = (): void => {
        if (!isHeld) return
        isHeld = false
        holders -= 1
        if (holders === 0) passed.release()
      }
      return { status, contentType, body, release }
    },
  }
}
