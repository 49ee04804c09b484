import { expect, test } from 'bun:test'
import { spending } from './spending.ts'

test('spending: what is not waited for is deriving, also while a wait goes on; pauses between loads count for nothing', async () => {
  let now = 0
  const pass = (ms: number) => async () => {
    now += ms
  }
  const time = spending({ elapsed: () => now })
  await time.loading(async () => {
    await time.waiting('node', pass(5))
    await pass(20)()
    await time.waiting('store', async () => {
      await pass(7)()
      expect(time.spent).toEqual({ node: 5, deriving: 20, store: 7 })
    })
  })
  await pass(1_000)()
  const failed = time.loading(() =>
    time.waiting('node', async () => {
      await pass(1)()
      throw new Error('away')
    }),
  )
  expect(failed).rejects.toThrow('away')
  await failed.catch(() => undefined)
  expect(time.spent).toEqual({ node: 6, deriving: 20, store: 7 })
})
