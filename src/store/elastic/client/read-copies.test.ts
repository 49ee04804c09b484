import { expect, test } from 'bun:test'
import { type CopiedRead, hasNoCopy, preferNodes } from './host.ts'
import { isReading } from './request.ts'

const lines = (...heads: readonly object[]): string =>
  heads.map(head => `${JSON.stringify(head)}\n{"size":0}\n`).join('')

test('requests: GET and the read-only POSTs are reads', () => {
  const all = ['/a,b/_search', '/_search', '/_msearch', '/_mget', '/a/_count', '/a/_terms_enum']
  expect(all.filter(path => !isReading({ method: 'POST', path }))).toEqual([])
  expect(isReading({ method: 'GET', path: '/a' })).toBe(true)
  for (const path of ['/_bulk', '/a/_refresh', '/a/_pit', '/_aliases'])
    expect(isReading({ method: 'POST', path })).toBe(false)
  expect(isReading({ method: 'DELETE', path: '/_search' })).toBe(false)
})

test('copies to read: reads prefer copies on any of the nodes, and other requests choose none', () => {
  for (const path of ['/a,b/_search', '/_mget', '/a/_doc/published']) {
    expect(preferNodes<CopiedRead>({ path, query: { realtime: 'false' } }, ['n1', 'n2'])).toEqual([
      { path, query: { realtime: 'false', preference: '_prefer_nodes:n1,n2' } },
    ])
    expect(preferNodes<CopiedRead>({ path }, [])).toEqual([{ path, query: { preference: '_local' } }])
  }
  for (const path of ['/a', '/_search', '/a/_terms_enum', '/_cluster/health'])
    expect(preferNodes<CopiedRead>({ path }, ['n1'])).toEqual([{ path }])
})

test('copies to read: each of several searches may use any of the nodes', () => {
  expect(preferNodes<CopiedRead>({ path: '/_msearch', lines: lines({ index: 'a' }, { index: 'b' }) }, ['n1'])).toEqual([
    {
      path: '/_msearch',
      lines: lines({ preference: '_prefer_nodes:n1', index: 'a' }, { preference: '_prefer_nodes:n1', index: 'b' }),
    },
  ])
})

test('copies to read: searches that must use one copy are tried on one node after the other, and then unchanged', () => {
  const head = { index: 'a', preference: 'some text' }
  const on = (preference: string) => ({
    path: '/_msearch',
    lines: lines({ index: 'a', preference }, { index: 'a', preference }),
  })
  expect(preferNodes<CopiedRead>({ path: '/_msearch', lines: lines(head, head) }, ['n1', 'n2'])).toEqual([
    on('_only_nodes:n1'),
    on('_only_nodes:n2'),
    on('some text'),
  ])
})

test('copies to read: searches of certain copies are unchanged, also where all are on one node', () => {
  for (const node of ['x', 'y']) {
    const read = {
      path: '/_msearch',
      isOfNamedCopies: true as const,
      lines: lines({ index: 'a', preference: '_only_nodes:x' }, { index: 'b', preference: `_only_nodes:${node}` }),
    }
    expect(preferNodes<CopiedRead>(read, ['n1'])).toEqual([read])
  }
})

test('copies to read: the errors of Elasticsearch without a copy are recognized', () => {
  expect(hasNoCopy('{"reason":"no data nodes with criteria [n1] found for shard: [a][0]"}')).toBe(true)
  expect(hasNoCopy('{"hits":[]}')).toBe(false)
})
