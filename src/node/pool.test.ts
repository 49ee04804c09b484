import { expect, test } from 'bun:test'
import { judgeNode, unfitText } from './pool.ts'

const IDENTITY = { chainId: 1020, genesis: 'g' }
const LAST = { height: 10, hash: 'a10' }

/** A node with blocks named by branch and height, against a store with branch `a` up to block 10. */
const judged = (libBlock: number, branch: string, { chainId = 1020, genesis = 'g', known = true } = {}) =>
  judgeNode(
    {
      ...{ chainId, libBlock },
      blockHash: async height => {
        if (height === 0) return genesis
        return height <= libBlock && branch !== '' ? `${branch}${height}` : undefined
      },
    },
    { identity: IDENTITY, last: LAST, hashAt: async height => (known ? `a${height}` : undefined) },
  )

test('judgeNode: a node with the last stored block fits, and one below it on the same branch is behind', async () => {
  expect(await judged(10, 'a')).toEqual({ is: 'fit' })
  expect(await judged(99, 'a')).toEqual({ is: 'fit' })
  expect(await judged(4, 'a')).toEqual({ is: 'behind' })
  // A store that does not know its hash is no evidence.
  expect(await judged(4, 'b', { known: false })).toEqual({ is: 'behind' })
})

test('judgeNode: another branch is reported at the highest height that both have', async () => {
  expect(await judged(99, 'b')).toEqual({ is: 'apart', height: 10, stored: 'a10', there: 'b10' })
  expect(await judged(4, 'b')).toEqual({ is: 'apart', height: 4, stored: 'a4', there: 'b4' })
  expect(unfitText({ is: 'apart', height: 4, stored: 'a4', there: 'b4' }, 'the node')).toBe(
    'Block 4 is a4 in the store and b4 at the node',
  )
})

test('judgeNode: another chain is reported before any block, and a missing block is not another branch', async () => {
  expect(await judged(99, 'a', { chainId: 1024 })).toEqual({ is: 'foreign', why: 'chain 1024, not 1020' })
  expect(await judged(99, 'a', { genesis: 'x' })).toEqual({
    is: 'foreign',
    why: 'genesis block x, not g',
  })
  expect(await judged(99, '')).toEqual({ is: 'lacks', height: 10 })
})
