import { expect, test } from 'bun:test'
import {
  address,
  basePath,
  count,
  duration,
  nodeUrls,
  pathOrUrl,
  publicUrl,
  storeAddress,
  testKey,
  yesNo,
} from './setting-readers.ts'

const elastic = { type: 'elastic', user: undefined, password: undefined } as const

/** The accepted texts with their values, and refused ones. */
const readers: readonly (readonly [
  name: string,
  reader: { readonly read: (text: string) => unknown },
  accepted: Readonly<Record<string, unknown>>,
  refused: readonly string[],
])[] = [
  [
    'count: whole numbers in range, and nothing is coerced',
    count(1, 256),
    { 1: 1, 256: 256 },
    ['0', '257', '1e2', ' 2', '0x10', '1.0', '-1', '+1', '', '１'],
  ],
  [
    'duration: a number with a unit, in milliseconds',
    duration(100, 86_400_000),
    { '100ms': 100, '10s': 10_000, '5m': 300_000, '2h': 7_200_000, '1d': 86_400_000 },
    ['99ms', '2d', '10', '10 s', '1.5s', 's', '-1s', '10S'],
  ],
  ['yesNo: only true and false', yesNo, { true: true, false: false }, ['TRUE', '1', 'yes', '']],
  [
    'basePath: paths without escapes, with or without a slash at the end',
    basePath,
    { '/': '', '/iost': '/iost', '/iost/': '/iost', '/a/b-c_d.e~1': '/a/b-c_d.e~1', '/.well': '/.well' },
    ['', 'iost', '//', '/a//b', '/a b', '/%61', '/a?b', '/a#b', '/..', '/a/./b', '/:x', '/*', '/中'],
  ],
  [
    'address: names, IPv4 and bracketed IPv6 addresses with a port',
    address,
    {
      '127.0.0.1:8080': { host: '127.0.0.1', port: 8080 },
      'localhost:0': { host: 'localhost', port: 0 },
      '[::1]:65535': { host: '::1', port: 65_535 },
    },
    ['8080', ':8080', '127.0.0.1', '::1:80', 'a:65536', 'a:-1', 'http://a:80', 'a b:80'],
  ],
  [
    'nodeUrls: several URLs, without slashes at their ends',
    nodeUrls,
    { 'http://a:30001/, https://user:word@b/rpc': ['http://a:30001', 'https://user:word@b/rpc'] },
    [
      ...['', 'a:30001', 'ftp://a', 'http://a,', 'http://a?x=1', 'http://a#x', 'http://'],
      ...['http://user:100%@a', 'http://user%:41@a', 'archive:https://user:100%@a'],
    ],
  ],
  [
    'pathOrUrl: files are distinguished from URLs',
    pathOrUrl,
    { 'prices.json': { path: 'prices.json' }, 'https://a/p.json': { url: 'https://a/p.json' } },
    ['ftp://a/p', ''],
  ],
  [
    'testKey: the key needs no escapes in a URL',
    testKey,
    { off: 'off', 'try-it': 'try-it', ['x'.repeat(100)]: 'x'.repeat(100) },
    ['abc', 'with space', 'a&b=c', 'x'.repeat(101)],
  ],
  [
    'storeAddress: a file, or an Elasticsearch URL with the prefix at the end of its path',
    storeAddress,
    {
      'sqlite:data/my chain.sqlite': { type: 'sqlite', path: 'data/my chain.sqlite' },
      'http://127.0.0.1:9200': { ...elastic, url: 'http://127.0.0.1:9200', prefix: 'iostlens' },
      'http://127.0.0.1:9200/': { ...elastic, url: 'http://127.0.0.1:9200', prefix: 'iostlens' },
      'https://es.example:443/main': { ...elastic, url: 'https://es.example', prefix: 'main' },
      'https://es.example/behind/proxy/main': { ...elastic, url: 'https://es.example/behind/proxy', prefix: 'main' },
      'http://us%40er:p%3Aw@es:9200/main': {
        ...elastic,
        ...{ url: 'http://es:9200', prefix: 'main', user: 'us@er', password: 'p:w' },
      },
      'https://us,er:p,w@a:9200,b,[::1]:9201/behind/main': {
        ...elastic,
        ...{ url: 'https://a:9200,b,[::1]:9201/behind', prefix: 'main', user: 'us,er', password: 'p,w' },
      },
    },
    [
      ...['', 'sqlite:', 'data.sqlite', 'postgres://a/b', 'http://a/Upper', 'http://a/_x', 'http://a/x*'],
      ...['http://a/x?y=1', 'http://a,/x', 'http://a,b:c/x', 'http://a,http://b/x'],
      ...['http://user:100%@a/x', 'http://user:%ff@a/x'],
    ],
  ],
  [
    'publicUrl: an http or https URL, which gets a slash at its end',
    publicUrl,
    {
      'https://iost.example': 'https://iost.example/',
      'http://host:81/behind/': 'http://host:81/behind/',
      'https://a/b': 'https://a/b/',
    },
    ['iost.example', 'ftp://a/', 'https://user:word@a/', 'https://a/?b', 'https://a/#b', ''],
  ],
]

for (const [name, { read }, accepted, refused] of readers)
  test(name, () => {
    for (const [text, value] of Object.entries(accepted)) expect([text, read(text)]).toEqual([text, value])
    for (const text of refused) expect([text, read(text)]).toEqual([text, undefined])
  })

test('duration: the rule names the limits', () => {
  expect(duration(100, 86_400_000).rule).toBe('a time from 100ms to 1d, such as 500ms, 10s, 5m, 12h, 90d')
})
