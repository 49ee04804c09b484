import { Failure } from '#failure/failure.ts'
import { fetchPeer, readBody } from '#peer/fetch-peer.ts'
import type { Command } from './command.ts'
import { formatBaseUrl } from './listen.ts'

/** Timeout of the request: a hung process accepts connections but never responds. */
const TIMEOUT_MS = 4_000
/** A service that listens on all addresses is reached at the machine's own. */
const OWN_HOSTS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])
/** The answer is one line. */
const MAX_BYTES = 64 * 1024

export const health: Command = {
  name: 'health',
  summary: 'ask the service on --listen whether it is alive; for health checks',
  about: [
    'Asks the service that listens on --listen for /health, and prints its answer. Exit code 0: it is alive; 75: it does not answer within four seconds.',
    'The service is asked without a proxy if it is on this machine, whatever HTTP_PROXY says.',
    'A container image that has no other program can use it as its health check. /ready reports whether the service is loaded and up to date.',
  ],
  settings: ['listen', 'base-path'],
  examples: ['iostlens health', 'iostlens health --listen 127.0.0.1:8081'],
  run: async ({ values: { listen, 'base-path': basePath }, out }) => {
    const address = 'path' in listen ? listen : { ...listen, host: OWN_HOSTS.get(listen.host) ?? listen.host }
    const url = `${formatBaseUrl(address, basePath)}/health`
    const help = 'Start the service, or name its address with --listen.'
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const asked =
      'path' in listen
        ? fetchPeer(`http://localhost${basePath}/health`, { signal, unix: listen.path })
        : fetchPeer(url, { signal })
    const response = await asked.catch((cause: unknown) => {
      throw new Failure('unavailable', `${url} does not answer.`, { help, cause })
    })
    const text = new TextDecoder().decode(await readBody(response, { most: MAX_BYTES }))
    if (response.status !== 200) throw new Failure('unavailable', `${url} answered ${response.status}.`, { help })
    out(text)
    return 0
  },
}
