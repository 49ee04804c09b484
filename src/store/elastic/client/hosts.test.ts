import { expect, test } from 'bun:test'
import { failureOf } from '#test/store/suite/harness.ts'
import { hostTurns, hostUrls } from './hosts.ts'

test('hostUrls: one for each host, all with the path', () => {
  expect(hostUrls('https://a:9200,b,[::1]:1/behind/proxy').map(String)).toEqual([
    'https://a:9200/behind/proxy',
    'https://b/behind/proxy',
    'https://[::1]:1/behind/proxy',
  ])
})

for (const text of ['a:9200', 'ftp://a', 'http://', 'http://a,,b', 'http://a,b:x', 'http://u:hunter2,x@a'])
  test(`hostUrls: refuses ${text}`, async () => {
    const failure = await failureOf(Promise.resolve(text).then(hostUrls))
    expect(failure.kind).toBe('usage')
    expect(failure.message).not.toContain('hunter2')
  })

test('hostTurns: in turn, without those that failed lately; if all did, the one that failed first', () => {
  let now = 0
  const hosts = hostTurns(['a', 'b', 'c'], () => now)
  const four = () => Array.from({ length: 4 }, hosts.next).join('')
  expect(four()).toBe('abca')
  hosts.failed('b')
  expect(four()).toBe('caca')
  now = 1_000
  hosts.failed('a')
  hosts.failed('c')
  expect(four()).toBe('bbbb')
  now = 5_000
  expect(four()).toBe('bbbb')
  now = 6_000
  expect(four()).toBe('cabc')
})

test('hostTurns: a single host is always asked', () => {
  const hosts = hostTurns(['a'], () => 0)
  hosts.failed('a')
  expect([hosts.next(), hosts.next()]).toEqual(['a', 'a'])
})
