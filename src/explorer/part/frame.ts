import type { Visit } from '../page.ts'
import type { Call } from './calls.tsx'

/** What the head and the foot of every page need; where the store cannot be read there is no height. */
export type Frame = Pick<
  Visit,
  'site' | 'root' | 'lang' | 'say' | 'path' | 'query' | 'origin' | 'isOriginKnown'
> & {
  readonly height?: number
  /** ISO-8601 UTC. */
  readonly time?: string
  readonly calls: readonly Call[]
}
