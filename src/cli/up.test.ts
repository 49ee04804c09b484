import { expect, test } from 'bun:test'
import { welcome } from './up.ts'

test('welcome: without a shared key the command that adds a key to this store is shown', async () => {
  const store = {
    name: 'http://127.0.0.1:9200/iostlens',
    read: async () => ({ height: 7, richest: undefined }) as never,
  }
  const url = 'http://127.0.0.1:8080'
  const callOf = (path: string) => `${url}${path}`
  const lines = await welcome({ url, callOf, testKey: 'off', isExplored: true, store })
  expect(lines).toContain('Open http://127.0.0.1:8080/ in a browser to see it.')
  expect(lines).toContain(
    "No shared test key is enabled; create a key with 'iostlens keys add NAME --store http://127.0.0.1:9200/iostlens'.",
  )
})
