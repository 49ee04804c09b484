import type { Published } from '#store/port.ts'

/**
 * Place of a height in the order of writing. State documents carry the stamp of the batch that wrote them; stamps only
 * grow, even when a repair goes back to a smaller height.
 */
export const stampOf = ({
  end,
  lift = 0,
}: {
  readonly end: Pick<Published, 'height'>
  readonly lift?: number | undefined
}): number => end.height + lift

/** Version of a document with a stamp; versions begin at 1. */
export const versionAt = (stamp: number): number => stamp + 1
