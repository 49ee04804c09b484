import { expect, test } from 'bun:test'
import { inTurn, type Place } from './answer.ts'

test('inTurn: a place is released when the work ends or fails', async () => {
  let taken = 0
  const turn = async (): Promise<Place> => {
    taken += 1
    return {
      apart: ask => ask(),
      lastly: ask => ask(),
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
