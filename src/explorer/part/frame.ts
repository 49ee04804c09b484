import type { Visit } from '../page.ts'
import type { Call } from './calls.tsx'

/** The data of the head and the foot of every page; without a height while the store cannot be read. */
export type Frame = Pick<
  Visit,
  'site' | 'root' | 'lang' | 'say' | 'path' | 'query' | 'origin' | 'isOriginKnown'
> & {
  readonly height?: number
  /** ISO-8601 UTC. */
  readonly time?: string
  readonly calls: readonly Call[]
}
