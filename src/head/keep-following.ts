import type { Clock } from '#time/clock.ts'
import { every } from '#time/every.ts'
import { createFollower, type Following } from './follow.ts'
import type { HeadSource } from './showing.ts'

/** Between two looks, in milliseconds; a block is made every 500. */
const EVERY_MS = 200

/** Follows the head until `stop`. */
export const followHead = (
  following: Following & { readonly clock: Clock },
): HeadSource & { stop(): void } => {
  const follower = createFollower(following)
  const ends = new AbortController()
  const looks = every(following.clock, EVERY_MS, () => follower.look(ends.signal))
  return {
    shown: follower.shown,
    onChange: follower.onChange,
    stop: () => {
      looks.stop()
      ends.abort('closed')
    },
  }
}
