import { Failure } from '#failure/failure.ts'
import type { Values } from './settings.ts'

/**
 * The number of threads that serve. Throws 'usage' for several threads on a Unix socket, which only one thread can use.
 */
export const servingThreads = ({ listen, threads }: Pick<Values, 'listen' | 'threads'>, byDefault: number): number => {
  if (!('path' in listen)) return threads ?? byDefault
  if (threads === undefined || threads === 1) return 1
  throw new Failure('usage', `A Unix socket is served by one thread, but --threads is ${threads}.`, {
    help: 'Leave --threads out, and for more cores start several processes, each with its own socket, between which the proxy divides the requests; or listen on HOST:PORT.',
  })
}
