/** Hosts that are this machine itself: a proxy would ask another one. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/

/**
 * Sends a request over HTTP. `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` apply as everywhere, but never to this machine.
 * The body arrives as the server sent it; `readBody` unpacks it within a limit.
 */
export function fetchPeer(url: string | URL, options: BunFetchRequestInit): Promise<Response> {
  const { hostname } = new URL(url)
  if (LOOPBACK.test(hostname)) exemptFromProxy(hostname)
  return fetch(url, { ...options, decompress: false })
}

/** Adds a host to those that are asked without a proxy: a single request has no other way to say so. */
function exemptFromProxy(hostname: string): void {
  const { env } = process
  // The runtime reads NO_PROXY only where no_proxy is absent or empty.
  const exempt = env['no_proxy'] || env['NO_PROXY'] || ''
  if (exempt.split(',').includes(hostname)) return
  env['no_proxy'] = `${exempt},${hostname}`
}
