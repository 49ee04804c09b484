import type { Visit } from '../page.ts'
import type { Call } from './calls.tsx'

/** The data of every HTML document: the explorer's pages, the reference and the status. */
export type Shell = Pick<Visit, 'site' | 'root' | 'home' | 'lang' | 'say' | 'path' | 'query'>

/** The data of an explorer page's header and footer. The height is absent while the store cannot be read. */
export type Frame = Shell &
  Pick<Visit, 'origin' | 'isOriginKnown'> & {
    readonly height?: number
    /** ISO-8601 UTC. */
    readonly time?: string
    readonly calls: readonly Call[]
  }
