import { expect, test } from 'bun:test'
import { holdPermit, type Permit } from './answer.ts'

test('inTurn: a place is released when the work ends or fails', async () => {
  let taken = 0
  const acquire = async (): Promise<Permit> => {
    taken += 1
    return {
      waitForNode: ask => ask(),
      waitAfterRead: ask => ask(),
      leave: () => {
        taken -= 1
      },
    }
  }
  expect(await holdPermit(acquire, async () => taken)).toBe(1)
  expect(taken).toBe(0)
  await expect(holdPermit(acquire, () => Promise.reject(new Error('x')))).rejects.toThrow('x')
  expect(taken).toBe(0)
})
