import { Failure } from '#failure/failure.ts'
import { fetchPeer, readBody } from '#peer/fetch-peer.ts'
import type { Command } from './command.ts'
import { formatBaseUrl } from './listen.ts'
import type { Address, SocketPath } from './setting-readers.ts'

/** Timeout of the request: a hung process accepts connections but never responds. */
const TIMEOUT_MS = 4_000
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
  run: async ({ values, out }) => {
    out(await fetchHealth(reachable(values.listen), values['base-path']))
    return 0
  },
}

/** The address to connect to: for a service that listens on all addresses, the machine's own. */
function reachable(address: Address | SocketPath): Address | SocketPath {
  if ('path' in address) return address
  const { host, port } = address
  return { host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port }
}

async function fetchHealth(address: Address | SocketPath, basePath: string): Promise<string> {
  const help = 'Start the service, or name its address with --listen.'
  const url = `${formatBaseUrl(address, basePath)}/health`
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const asked =
    'path' in address
      ? fetchPeer(`http://localhost${basePath}/health`, { signal, unix: address.path })
      : fetchPeer(url, { signal })
  const response = await asked.catch((cause: unknown) => {
    throw new Failure('unavailable', `${url} does not answer.`, { help, cause })
  })
  const text = new TextDecoder().decode(await readBody(response, { most: MAX_BYTES }))
  if (response.status !== 200) throw new Failure('unavailable', `${url} answered ${response.status}.`, { help })
  return text
}
