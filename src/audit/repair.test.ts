import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { lastWhere } from './repair.ts'

test('lastWhere: the last match is found, with few looks when it is near the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(5_000), fc.integer({ min: -1, max: 5_000 }), async (top, last) => {
      let looks = 0
      const holds = async (height: number): Promise<boolean> => {
        looks += 1
        return height <= last
      }
      expect(await lastWhere(top, holds)).toBe(Math.min(top, last))
      expect(looks).toBeLessThan(40)
      looks = 0
      expect(await lastWhere(undefined, holds)).toBe(last)
      expect(looks).toBeLessThan(40)
    }),
  )
  let looks = 0
  await lastWhere(200_000_000, async height => {
    looks += 1
    return height < 200_000_000
  })
  expect(looks).toBeLessThan(4)
})
