import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  findClient,
  type IpRange,
  ipAddressText,
  isInRange,
  isRoutable,
  MAX_PARAMETERS,
  parseIpAddress,
  parseIpRange,
  parseQuery,
  parseTarget,
  toNetwork,
} from './exchange.ts'

const good: readonly (readonly [text: string, query: readonly (readonly [string, string])[]])[] = [
  ['', []],
  ['&&', []],
  [
    'b=2&a=1&b=3',
    [
      ['b', '2'],
      ['a', '1'],
      ['b', '3'],
    ],
  ],
  ['a', [['a', '']]],
  ['a=', [['a', '']]],
  ['a=b=c', [['a', 'b=c']]],
  ['a=x+y%2B', [['a', 'x y+']]],
  ['%61=%E7%8C%AB', [['a', '猫']]],
  ['a=%EF%BB%BFx', [['a', '\uFEFFx']]],
  ['a=%00', [['a', '\0']]],
  ['a=猫%41', [['a', '猫A']]],
  [
    '__proto__=1&constructor=2',
    [
      ['__proto__', '1'],
      ['constructor', '2'],
    ],
  ],
]
test.each(good)('parseQuery: %j', (text, query) => {
  expect(parseQuery(text)).toEqual({ query, keys: [], fault: undefined })
})

test('parseQuery: keys are removed, also from an invalid query', () => {
  expect(parseQuery('apikey=a&x=%&%61pikey=b&apikey=%')).toMatchObject({ query: [], keys: ['a', 'b', ''] })
})

test('parseQuery: the number of parameters is limited', () => {
  const faults = [MAX_PARAMETERS, MAX_PARAMETERS + 1].map(count => parseQuery('a=1&'.repeat(count)).fault?.kind)
  expect(faults).toEqual([undefined, 'bad_request'])
})

test('parseQuery: the output of URLSearchParams is read back', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12 }).filter(part => part.isWellFormed())
  const pair = fc.tuple(
    text.filter(name => name !== '' && name !== 'apikey'),
    text,
  )
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 20 }), pairs => {
      const written = new URLSearchParams(pairs).toString()
      expect(parseQuery(written)).toEqual({ query: pairs, keys: [], fault: undefined })
    }),
  )
})

const targets: readonly (readonly [url: string, path: string, query: string])[] = [
  ['http://localhost:8080/api/?a=1&b=%zz', '/api/', 'a=1&b=%zz'],
  ['https://h.example/api', '/api', ''],
  ['http://h.example', '/', ''],
  ['http://h.example?x', '/', 'x'],
  ['http://a/rpc/x', '/rpc/x', ''],
  ['/api/?a=/b?c', '/api/', 'a=/b?c'],
  ['http://[::1/api', '/api', ''],
  ['http://h.example/a#b?c', '/a', ''],
  ['http://h.example/a?b#c', '/a', 'b'],
  ['http://h.example//evil/api', '//evil/api', ''],
]
test.each(targets)('targetOf: %s', (url, path, query) => {
  expect(parseTarget(url)).toEqual({ path, query })
})

test('isRoutable: hosts of four characters and more are routable', () => {
  expect(['http://abcd/', 'https://h.example/api'].map(isRoutable)).toEqual([true, true])
  expect(['http://abc/', 'http://a/api', '/api/', 'http:///api'].map(isRoutable)).toEqual([false, false, false, false])
})

const ranges = (...texts: readonly string[]): readonly IpRange[] => texts.flatMap(text => parseIpRange(text) ?? [])
function network(text: string): string | undefined {
  const address = parseIpAddress(text)
  return address === undefined ? undefined : toNetwork(address)
}

test('IP addresses: only addresses are read, and addresses in one /64 are one network', () => {
  expect(network('192.0.2.1')).toBe('c0000201')
  expect(network('::ffff:192.0.2.1')).toBe('c0000201')
  expect(network('::ffff:c000:0201')).toBe('c0000201')
  expect(network('2001:db8:1:2:3:4:5:6')).toBe('20010db800010002')
  expect(network('fe80::1%eth0')).toBe('fe80000000000000')
  expect(network('::')).toBe('0000000000000000')
  expect(network('2001:db8::1')).toBe(network('2001:db8::ffff:ffff:ffff:ffff'))
  for (const text of ['', '1.2.3', '1.2.3.256', '1.2.3.4.5', '1::2::3', ':1:2', '1:2:3:4:5:6:7', '12345::'])
    expect([text, parseIpAddress(text)]).toEqual([text, undefined])
})

test.each([
  ['10.255.0.1', '10.0.0.0/8', true],
  ['11.0.0.1', '10.0.0.0/8', false],
  ['192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '192.0.2.1/32', true],
  ['192.0.2.2', '192.0.2.1/32', false],
  ['fd00::1', 'fd00::1/128', true],
  ['::ffff:10.0.0.1', '10.0.0.0/8', true],
  ['10.0.0.1', '::ffff:10.0.0.0/104', true],
  ['fd00::1', 'fd00::/8', true],
  ['10.0.0.1', '::/0', false],
])('IP ranges: %s is in %s: %p', (address, range, isInside) => {
  const [one, other] = [parseIpAddress(address), parseIpRange(range)]
  expect(one !== undefined && other !== undefined && isInRange(one, other)).toBe(isInside)
})

test('IP ranges: other texts are no ranges', () => {
  for (const text of ['', '10.0.0.0/33', '10.0.0.0/', 'fd00::/129', '10.0.0.0/8/8', 'proxy'])
    expect([text, parseIpRange(text)]).toEqual([text, undefined])
})

const forwarded = (text: string) => ({ 'X-Forwarded-For': text })

test.each<readonly [peer: string, headers: Readonly<Record<string, string>>, client: string]>([
  ['192.0.2.1', forwarded('198.51.100.1'), '192.0.2.1'],
  ['10.0.0.1', {}, '10.0.0.1'],
  ['10.0.0.1', forwarded('203.0.113.9, 198.51.100.1'), '198.51.100.1'],
  ['10.0.0.1', forwarded('203.0.113.9, 198.51.100.1, 10.0.0.2'), '198.51.100.1'],
  ['10.0.0.1', forwarded('10.0.0.3,10.0.0.2'), '10.0.0.3'],
  ['::1', forwarded('198.51.100.1:4711'), '198.51.100.1'],
  ['::ffff:10.0.0.1', forwarded('[2001:db8::1]:4711'), '2001:db8::1'],
  // A proxy whose header has no usable address counts as the client.
  ['10.0.0.1', forwarded('198.51.100.1, nonsense'), '10.0.0.1'],
  ['10.0.0.1', forwarded('198.51.100.1, nonsense, 10.0.0.2'), '10.0.0.2'],
  ['10.0.0.1', { Forwarded: 'for=203.0.113.9, for=198.51.100.1;proto=https' }, '198.51.100.1'],
  ['10.0.0.1', { Forwarded: 'by=10.0.0.1; For="[2001:db8::1]:4711"' }, '2001:db8::1'],
  ['10.0.0.1', { Forwarded: 'for=unknown' }, '10.0.0.1'],
  // Most proxies set one of the headers and pass the other on.
  ['10.0.0.1', { ...forwarded('198.51.100.1'), Forwarded: 'for=203.0.113.9' }, '198.51.100.1'],
])('clients behind proxies: of the peer %s with %j the client is %s', (peer, headers, client) => {
  const found = findClient(peer, new Headers(headers), ranges('10.0.0.0/8', '::1'))
  expect(typeof found === 'object' ? toNetwork(found) : found).toBe(network(client))
})

test('clients behind proxies: a proxy on the Unix socket is trusted only when it is listed', () => {
  const headers = new Headers(forwarded('203.0.113.9, 198.51.100.1'))
  expect(findClient(undefined, headers, ['unix'])).toBeUndefined()
  expect(findClient('unix', headers, ['unix'])).toEqual(parseIpAddress('198.51.100.1'))
  expect(findClient('unix', headers, ranges('0.0.0.0/0', '::/0'))).toBe('unix')
  expect(findClient('unix', new Headers(), ['unix'])).toBe('unix')
  // A TCP peer is not trusted by the range `unix`, and the text `unix` in a header is not an address.
  const peer = parseIpAddress('10.0.0.1')
  expect(findClient('10.0.0.1', headers, ['unix'])).toEqual(peer)
  expect(findClient('10.0.0.1', new Headers(forwarded('unix')), ranges('10.0.0.1'))).toEqual(peer)
})

test('ipAddressText: the text is the one that was parsed', () => {
  for (const text of ['192.0.2.1', '0.0.0.0', '255.255.255.255', '2001:db8:0:0:0:0:0:1', 'fe80:1:2:3:4:5:6:ffff']) {
    const address = parseIpAddress(text)
    expect(address === undefined ? undefined : ipAddressText(address)).toBe(text)
  }
})
