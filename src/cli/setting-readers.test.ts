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

test('count: whole numbers in range are accepted, and nothing is coerced', () => {
  const reader = count(1, 256)
  const read = ['1', '256', '0', '257', '1e2', ' 2', '0x10', '1.0', '-1', '+1', '', '１'].map(reader.read)
  expect(read).toEqual([1, 256, ...Array.from({ length: 10 }, () => undefined)])
})

test('duration: a number with a unit is converted to milliseconds', () => {
  const reader = duration(100, 86_400_000)
  expect(['100ms', '10s', '5m', '2h', '1d'].map(reader.read)).toEqual([100, 10_000, 300_000, 7_200_000, 86_400_000])
  expect(['99ms', '2d', '10', '10 s', '1.5s', 's', '-1s', '10S'].map(reader.read)).toEqual(
    Array.from({ length: 8 }, () => undefined),
  )
  expect(reader.rule).toBe('a time from 100ms to 1d, such as 500ms, 10s, 5m, 12h, 90d')
})

test('yesNo: only true and false are accepted', () => {
  expect(['true', 'false', 'TRUE', '1', 'yes', ''].map(yesNo.read)).toEqual([
    true,
    false,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('basePath: paths without escapes are accepted, with or without a slash at the end', () => {
  expect(['/', '/iost', '/iost/', '/a/b-c_d.e~1', '/.well'].map(basePath.read)).toEqual([
    '',
    '/iost',
    '/iost',
    '/a/b-c_d.e~1',
    '/.well',
  ])
  const wrong = ['', 'iost', '//', '/a//b', '/a b', '/%61', '/a?b', '/a#b', '/..', '/a/./b', '/:x', '/*', '/中']
  expect(wrong.map(basePath.read)).toEqual(wrong.map(() => undefined))
})

test('address: names, IPv4 and bracketed IPv6 addresses with a port are accepted', () => {
  expect(['127.0.0.1:8080', 'localhost:0', '[::1]:65535'].map(address.read)).toEqual([
    { host: '127.0.0.1', port: 8080 },
    { host: 'localhost', port: 0 },
    { host: '::1', port: 65_535 },
  ])
  expect(
    ['8080', ':8080', '127.0.0.1', '::1:80', 'a:65536', 'a:-1', 'http://a:80', 'a b:80'].map(address.read),
  ).toEqual(Array.from({ length: 8 }, () => undefined))
})

test('nodeUrls: several URLs are accepted, without slashes at their ends', () => {
  expect(nodeUrls.read('http://a:30001/, https://user:word@b/rpc')).toEqual([
    'http://a:30001',
    'https://user:word@b/rpc',
  ])
  expect(
    [
      '',
      'a:30001',
      'ftp://a',
      'http://a,',
      'http://a?x=1',
      'http://a#x',
      'http://',
      'http://user:100%@a',
      'http://user%:41@a',
      'archive:https://user:100%@a',
    ].map(nodeUrls.read),
  ).toEqual(Array.from({ length: 10 }, () => undefined))
})

test('pathOrUrl: files are distinguished from URLs', () => {
  expect(['prices.json', 'https://a/p.json', 'ftp://a/p', ''].map(pathOrUrl.read)).toEqual([
    { path: 'prices.json' },
    { url: 'https://a/p.json' },
    undefined,
    undefined,
  ])
})

test('testKey: the key needs no escapes in a URL', () => {
  expect(['off', 'try-it', 'abc', 'with space', 'a&b=c', 'x'.repeat(100), 'x'.repeat(101)].map(testKey.read)).toEqual([
    'off',
    'try-it',
    undefined,
    undefined,
    undefined,
    'x'.repeat(100),
    undefined,
  ])
})

test('storeAddress: a file or an Elasticsearch URL with the prefix at the end of its path is accepted', () => {
  const elastic = { type: 'elastic', user: undefined, password: undefined } as const
  expect(
    [
      'sqlite:data/my chain.sqlite',
      'http://127.0.0.1:9200',
      'http://127.0.0.1:9200/',
      'https://es.example:443/main',
      'https://es.example/behind/proxy/main',
      'http://us%40er:p%3Aw@es:9200/main',
      'https://us,er:p,w@a:9200,b,[::1]:9201/behind/main',
    ].map(storeAddress.read),
  ).toEqual([
    { type: 'sqlite', path: 'data/my chain.sqlite' },
    { ...elastic, url: 'http://127.0.0.1:9200', prefix: 'iostlens' },
    { ...elastic, url: 'http://127.0.0.1:9200', prefix: 'iostlens' },
    { ...elastic, url: 'https://es.example', prefix: 'main' },
    { ...elastic, url: 'https://es.example/behind/proxy', prefix: 'main' },
    { ...elastic, url: 'http://es:9200', prefix: 'main', user: 'us@er', password: 'p:w' },
    {
      type: 'elastic',
      url: 'https://a:9200,b,[::1]:9201/behind',
      prefix: 'main',
      user: 'us,er',
      password: 'p,w',
    },
  ])
  expect(
    [
      '',
      'sqlite:',
      'data.sqlite',
      'postgres://a/b',
      'http://a/Upper',
      'http://a/_x',
      'http://a/x*',
      'http://a/x?y=1',
      'http://a,/x',
      'http://a,b:c/x',
      'http://a,http://b/x',
      'http://user:100%@a/x',
      'http://user:%ff@a/x',
    ].map(storeAddress.read),
  ).toEqual(Array.from({ length: 13 }, () => undefined))
})

test('publicUrl: an http or https URL is accepted and gets a slash at its end', () => {
  expect(['https://iost.example', 'http://host:81/behind/', 'https://a/b'].map(publicUrl.read)).toEqual([
    'https://iost.example/',
    'http://host:81/behind/',
    'https://a/b/',
  ])
  const wrong = ['iost.example', 'ftp://a/', 'https://user:word@a/', 'https://a/?b', 'https://a/#b', '']
  expect(wrong.map(publicUrl.read)).toEqual(wrong.map(() => undefined))
})
