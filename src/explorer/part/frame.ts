import type { Visit } from '../page.ts'
import type { Call } from './calls.tsx'

/** The data that every document of HTML is made with: the explorer's pages, and the reference and the status, too. */
export type Shell = Pick<Visit, 'site' | 'root' | 'home' | 'lang' | 'say' | 'path' | 'query'>

/** The data of the head and the foot of every page of the explorer; without a height while the store cannot be read. */
export type Frame = Shell &
  Pick<Visit, 'origin' | 'isOriginKnown'> & {
    readonly height?: number
    /** ISO-8601 UTC. */
    readonly time?: string
    readonly calls: readonly Call[]
  }
