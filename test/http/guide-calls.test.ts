import { expect, test } from 'bun:test'
import { sum } from '#chain/amount.ts'
import { documented } from '#test/support/documented.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const { ask, key } = serviceOn(await loadedStore())

const callsIn = (path: string): readonly string[] =>
  [...documented(path).matchAll(/^ +(\/api\/\?\S+)$/gm)].map(([, call = '']) => call)

async function answered(call: string): Promise<string> {
  const response = await ask(call, { headers: { 'X-API-Key': key } })
  expect([call, response.status]).toEqual([call, 200])
  if (!call.includes('format=sse')) return response.text()
  // A feed does not end.
  await response.body?.cancel()
  return ''
}

test.each([
  ['docs/paying-voters.md', 4],
  ['docs/wallets-first-screen.md', 8],
  ['docs/years-statement.md', 12],
])('%s: every call is answered, and both languages have the same calls', async (path, count) => {
  const calls = callsIn(path)
  expect(calls.length).toBe(count)
  expect(calls.slice(count / 2)).toEqual(calls.slice(0, count / 2))
  for (const call of calls.slice(0, count / 2)) await answered(call)
})

test('docs/years-statement.md: the opening balance plus all changes is the closing balance', async () => {
  const [opening = '', , file = '', , , first = ''] = callsIn('docs/years-statement.md')
  const totalOf = ({ available, frozen }: { available: string; frozen: string }) => sum(available, frozen)
  const before = JSON.parse(await answered(opening)).data.iost
  const { balance, frozen_balance } = JSON.parse(await answered(first)).data
  expect(totalOf(before)).toBe(sum(balance, frozen_balance.total))
  const after = JSON.parse(await answered(opening.replace(/&at_time=[^&]+/, ''))).data.iost
  const [, ...lines] = readWholeCsv(await answered(file))
  const changes = lines.reduce((all, cells) => sum(all, cells[2] ?? ''), '0')
  expect(sum(totalOf(before), changes)).toBe(totalOf(after))
  expect(lines.at(-1)?.[3]).toBe(totalOf(after))
  expect(lines.length).toBeGreaterThan(100)
})
