import { expect, test } from 'bun:test'
import { inTurn, type Slot } from './answer.ts'

test('inTurn: a place is released when the work ends or fails', async () => {
  let taken = 0
  const turn = async (): Promise<Slot> => {
    taken += 1
    return {
      waitForNode: ask => ask(),
      waitAfterRead: ask => ask(),
      leave: () => {
        taken -= 1
      },
    }
  }
  expect(await inTurn(turn, async () => taken)).toBe(1)
  expect(taken).toBe(0)
  await expect(inTurn(turn, () => Promise.reject(new Error('x')))).rejects.toThrow('x')
  expect(taken).toBe(0)
})
