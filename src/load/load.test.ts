import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { loadedHeight } from './load.ts'

test('loadedHeight: a temporary failure of the store counts as nothing loaded, a permanent one is thrown', async () => {
  const published = { height: 7, hash: 'h', time: 0n, lib: 9 }
  expect(await loadedHeight({ published: async () => published })).toBe(7)
  expect(await loadedHeight({ published: async () => undefined })).toBe(-1)
  const away = new Failure('unavailable', 'away')
  expect(await loadedHeight({ published: () => Promise.reject(away) })).toBe(-1)
  const refused = new Failure('unavailable', 'refused', { retryable: false })
  expect(await loadedHeight({ published: () => Promise.reject(refused) }).catch(error => error)).toBe(refused)
})
