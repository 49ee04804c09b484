import { lookup } from 'node:dns/promises'
import { Failure } from '#failure/failure.ts'

/**
 * Refuses ('usage') a set of nodes none of whose host names exists: a typing error, so waiting does not help. A name
 * server that does not answer says nothing about a name.
 */
export const requireKnownHosts = async (urls: readonly string[]): Promise<void> => {
  const hosts = urls.map(url => new URL(url).hostname.replace(/^\[|\]$/g, ''))
  const exist = await Promise.all(hosts.map(exists))
  if (exist.includes(true)) return
  throw new Failure('usage', `The host name in --node is unknown: ${hosts.join(', ')}.`, {
    help: 'Check --node (IOSTLENS_NODE). An example is http://127.0.0.1:30001.',
  })
}

const exists = async (host: string): Promise<boolean> => {
  try {
    await lookup(host)
    return true
  } catch (error) {
    return (error as { readonly code?: unknown }).code !== 'ENOTFOUND'
  }
}
