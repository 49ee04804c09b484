import { expect, test } from 'bun:test'
import { judgeNode } from './pool.ts'

type Told = { readonly chainId?: number; readonly genesis?: string; readonly known?: boolean }

test.each<readonly [number, string, Told, Awaited<ReturnType<typeof judgeNode>>]>([
  [99, 'a', {}, { is: 'fit' }],
  [4, 'a', {}, { is: 'behind' }],
  // A store that does not know its hash is no evidence.
  [4, 'b', { known: false }, { is: 'behind' }],
  [99, 'b', {}, { is: 'apart', height: 10, stored: 'a10', there: 'b10' }],
  [4, 'b', {}, { is: 'apart', height: 4, stored: 'a4', there: 'b4' }],
  // Another chain is reported before any block.
  [99, 'a', { chainId: 1024 }, { is: 'foreign', why: 'chain 1024, not 1020' }],
  [99, 'a', { genesis: 'x' }, { is: 'foreign', why: 'genesis block x, not g' }],
  // A missing block is not another branch.
  [99, '', {}, { is: 'lacks', height: 10 }],
])('judgeNode: a node up to block %d of branch "%s" against a store with a1 … a10: %#', async (...given) => {
  const [libBlock, branch, { chainId = 1020, genesis = 'g', known = true }, verdict] = given
  const blockHash = async (height: number) =>
    height === 0 ? genesis : height <= libBlock && branch !== '' ? `${branch}${height}` : undefined
  const stored = {
    ...{ identity: { chainId: 1020, genesis: 'g' }, last: { height: 10, hash: 'a10' } },
    hashAt: async (height: number) => (known ? `a${height}` : undefined),
  }
  expect(await judgeNode({ chainId, libBlock, blockHash }, stored)).toEqual(verdict)
})
