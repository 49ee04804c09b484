import { expect, test } from 'bun:test'
import { type HeadBlock, type HeadState, rowsOfList, selectHead } from './head-state.ts'

function block(branch: string, height: number, parent = `${branch}${height - 1}`): HeadBlock {
  const doc = { height, hash: `${branch}${height}`, parent_hash: parent }
  // Fields that these tests do not use are left out.
  return { doc, rows: [], transactions: [], bodies: [] } as unknown as HeadBlock
}
function shownOf(...blocks: readonly HeadBlock[]): HeadState {
  const tip = blocks.at(-1)?.doc ?? { height: 3, hash: 'a3' }
  return { status: 'followed', tip: { height: tip.height, hash: tip.hash }, lib: 4, blocks }
}
const A = [block('a', 4), block('a', 5), block('a', 6)] as const
const namesOf = (blocks: readonly HeadBlock[]) => blocks.map(({ doc }) => doc.hash)

test('selectHead: blocks above a height are returned only on top of the block at that height', () => {
  const shown = shownOf(...A)
  const above = (height: number, hash: string) => {
    const { status, height: tip, blocks } = selectHead(shown, { height, hash })
    return [status, tip, namesOf(blocks)]
  }
  expect(above(3, 'a3')).toEqual(['followed', 6, ['a4', 'a5', 'a6']])
  expect(above(5, 'a5')).toEqual(['followed', 6, ['a6']])
  expect(above(6, 'a6')).toEqual(['followed', 6, []])
  expect(above(9, 'a9')).toEqual(['followed', 9, []])
  expect(above(5, 'b5')).toEqual(['apart', undefined, []])
  // Block 3 is missing, so a row could be missing too.
  expect(above(2, 'a2')).toEqual(['apart', undefined, []])
})
test('selectHead: if no node is followed, there is no height', () => {
  expect(selectHead({ status: 'away' }, { height: 3, hash: 'a3' })).toEqual({
    status: 'away',
    height: undefined,
    lib: -1,
    blocks: [],
  })
})
test('rowsOfList: the rows of a block in a list are returned in order', () => {
  const rows = ['x', 'y', 'x'].map((list, index) => ({ doc: { index }, lists: [list, 'all'] }))
  const one = { ...block('a', 4), rows } as unknown as HeadBlock
  const indicesOf = (list: string) => rowsOfList(one, list).map(({ doc }) => doc.index)
  expect([indicesOf('x'), indicesOf('all'), indicesOf('__proto__')]).toEqual([[0, 2], [0, 1, 2], []])
})
