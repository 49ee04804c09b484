import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Identity, Published } from '#store/port.ts'

/** Identity of the chain that a node serves. */
type Served = { readonly chainId: number; readonly genesis: string | undefined }

/** Throws 'conflict' when the node is of another chain than the stored one. */
export function requireStored({ chainId, genesis }: Served, stored: Identity): void {
  if (chainId === stored.chainId && genesis === stored.genesis) return
  throw new Failure(
    'conflict',
    `The node's chain is ${chainId} with genesis ${genesis}, the store's ${stored.chainId} with ${stored.genesis}.`,
    { help: 'Set --node to a node of the stored chain.' },
  )
}

/**
 * Returns the node's last irreversible block. Throws 'conflict' when the node is of another chain than the
 * stored one, 'unavailable' when it is behind the published height.
 */
export async function requireSameChain(
  node: Node,
  { identity, published }: { readonly identity: Identity; readonly published: Published },
  signal: AbortSignal,
): Promise<number> {
  const [{ chainId, libBlock }, genesis] = [await node.chainInfo(signal), await node.blockHash(0, signal)] as const
  requireStored({ chainId, genesis }, identity)
  if (libBlock < published.height)
    throw new Failure(
      'unavailable',
      `The node's last irreversible block ${libBlock} is below the published height ${published.height}.`,
      {
        help: `Wait until the node has it, or set another node. Should the published height be wrong, run: 'iostlens repair --node ${node.name}'.`,
      },
    )
  return libBlock
}
