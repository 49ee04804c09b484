import { Failure } from '#failure/failure.ts'
import { ARCHIVE, archiveNode } from './archive-node.ts'
import { parseEndpoint } from './endpoint.ts'
import type { Node } from './port.ts'
import { type RpcNodeOptions, rpcNode } from './rpc-node.ts'

export type NodeOptions = Omit<RpcNodeOptions, 'endpoints' | 'rangeEnd'> & {
  /** Nodes of one chain: `http(s)://[user:password@]host[:port][/path]`, at most one `archive:FOLDER-OR-URL`. */
  readonly urls: readonly string[]
}

/**
 * Combines the nodes at these URLs into one. At most one URL is an archive, `archive:` followed by a folder
 * or an http(s) URL; it is asked first for the blocks that it has. Throws Failure 'usage' for an invalid node
 * URL. Sends no request yet.
 */
export function createNode({ urls, ...options }: NodeOptions): Node {
  const [archive, ...more] = urls.filter(url => url.startsWith(ARCHIVE))
  const endpoints = urls.filter(url => !url.startsWith(ARCHIVE)).map(parseEndpoint)
  if (more.length > 0) throw new Failure('usage', 'Only one archive of blocks can be set.')
  if (archive === undefined) return rpcNode({ ...options, endpoints })
  const live = endpoints.length === 0 ? undefined : rpcNode({ ...options, endpoints })
  return archiveNode(archive.slice(ARCHIVE.length), live, options)
}
