import { expect, test } from 'bun:test'
import { failureOf } from '#test/store/suite/harness.ts'
import { parseHostUrls } from './connection.ts'

test('hostUrls: there is one URL for each host, all with the path', () => {
  expect(parseHostUrls('https://a:9200,b,[::1]:1/behind/proxy').map(String)).toEqual([
    'https://a:9200/behind/proxy',
    'https://b/behind/proxy',
    'https://[::1]:1/behind/proxy',
  ])
})

for (const text of ['a:9200', 'ftp://a', 'http://', 'http://a,,b', 'http://a,b:x', 'http://u:hunter2,x@a'])
  test(`hostUrls: refuses ${text}`, async () => {
    const failure = await failureOf(Promise.resolve(text).then(parseHostUrls))
    expect(failure.kind).toBe('usage')
    expect(failure.message).not.toContain('hunter2')
  })
