import { expect, test } from 'bun:test'
import { chooseHead } from './choose.ts'

const said = (headBlock: number, headHash = 'x') => ({ headBlock, headHash })

test('choiceOf: a higher head, or another one of equal height, is followed at once', () => {
  const tip = { height: 20, hash: 'a', ageMs: 0 }
  for (const height of [20, 21, 60])
    expect(chooseHead(said(height), { height: 10 }, tip)).toEqual({
      type: 'follow',
      head: { height, hash: 'x' },
    })
})
test('choiceOf: a lower head is ignored as lagging until no node has confirmed the tip for a while', () => {
  expect(chooseHead(said(19), { height: 10 }, { height: 20, hash: 'a', ageMs: 2_999 })).toEqual({
    type: 'stay',
  })
  expect(chooseHead(said(19), { height: 10 }, { height: 20, hash: 'a', ageMs: 3_000 })).toEqual({
    type: 'follow',
    head: { height: 19, hash: 'x' },
  })
})
test('choiceOf: there is no head if the node is behind the store, or the store far behind the node', () => {
  expect(chooseHead(said(9), { height: 10 }, undefined)).toEqual({ type: 'behind' })
  expect(chooseHead(said(610), { height: 10 }, undefined).type).toBe('follow')
  expect(chooseHead(said(611), { height: 10 }, undefined)).toEqual({ type: 'behind' })
})
