import { expect, test } from 'bun:test'
import {
  findClient,
  type IpRange,
  ipAddressText,
  isInRange,
  parseIpAddress,
  parseIpRange,
  toNetwork,
} from './client-address.ts'

const ranges = (...texts: readonly string[]): readonly IpRange[] => texts.flatMap(text => parseIpRange(text) ?? [])
function network(text: string): string | undefined {
  const address = parseIpAddress(text)
  return address === undefined ? undefined : toNetwork(address)
}

test('ipAddressIn: only addresses are read', () => {
  expect(network('192.0.2.1')).toBe('c0000201')
  expect(network('::ffff:192.0.2.1')).toBe('c0000201')
  expect(network('::ffff:c000:0201')).toBe('c0000201')
  expect(network('2001:db8:1:2:3:4:5:6')).toBe('20010db800010002')
  expect(network('fe80::1%eth0')).toBe('fe80000000000000')
  expect(network('::')).toBe('0000000000000000')
  for (const text of ['', '1.2.3', '1.2.3.256', '1.2.3.4.5', '1::2::3', ':1:2', '1:2:3:4:5:6:7', '12345::'])
    expect([text, parseIpAddress(text)]).toEqual([text, undefined])
})

test('networkOf: addresses in one /64 are one network', () => {
  expect(network('2001:db8::1')).toBe(network('2001:db8::ffff:ffff:ffff:ffff'))
  expect(network('2001:db8::1')).not.toBe(network('2001:db8:0:1::1'))
})

test('ipRangeIn: an address is in the ranges with its prefix', () => {
  const isInside = (address: string, range: string): boolean => {
    const [one, other] = [parseIpAddress(address), parseIpRange(range)]
    return one !== undefined && other !== undefined && isInRange(one, other)
  }
  expect(isInside('10.255.0.1', '10.0.0.0/8')).toBe(true)
  expect(isInside('11.0.0.1', '10.0.0.0/8')).toBe(false)
  expect(isInside('192.0.2.1', '192.0.2.1')).toBe(true)
  expect(isInside('::ffff:10.0.0.1', '10.0.0.0/8')).toBe(true)
  expect(isInside('10.0.0.1', '::ffff:10.0.0.0/104')).toBe(true)
  expect(isInside('fd00::1', 'fd00::/8')).toBe(true)
  expect(isInside('10.0.0.1', '::/0')).toBe(false)
  for (const text of ['', '10.0.0.0/33', '10.0.0.0/', 'fd00::/129', '10.0.0.0/8/8', 'proxy'])
    expect([text, parseIpRange(text)]).toEqual([text, undefined])
})

test('clientBehind: the last address that is not a trusted proxy is the client, whatever precedes it', () => {
  const trusted = ranges('10.0.0.0/8', '::1')
  const client = (peer: string | undefined, headers: Readonly<Record<string, string>>) => {
    const found = findClient(peer, new Headers(headers), trusted)
    return found === undefined || found === 'unix' ? found : toNetwork(found)
  }
  const for_ = (text: string) => ({ 'X-Forwarded-For': text })
  expect(client('192.0.2.1', for_('198.51.100.1'))).toBe(network('192.0.2.1'))
  expect(client('10.0.0.1', {})).toBe(network('10.0.0.1'))
  expect(client('10.0.0.1', for_('203.0.113.9, 198.51.100.1'))).toBe(network('198.51.100.1'))
  expect(client('10.0.0.1', for_('203.0.113.9, 198.51.100.1, 10.0.0.2'))).toBe(network('198.51.100.1'))
  expect(client('10.0.0.1', for_('10.0.0.3,10.0.0.2'))).toBe(network('10.0.0.3'))
  expect(client('::1', for_('198.51.100.1:4711'))).toBe(network('198.51.100.1'))
  expect(client('::ffff:10.0.0.1', for_('[2001:db8::1]:4711'))).toBe(network('2001:db8::1'))
  // A proxy whose header has no usable address counts as the client.
  expect(client('10.0.0.1', for_('198.51.100.1, nonsense'))).toBe(network('10.0.0.1'))
  expect(client('10.0.0.1', for_('198.51.100.1, nonsense, 10.0.0.2'))).toBe(network('10.0.0.2'))
  expect(client('10.0.0.1', { Forwarded: 'for=203.0.113.9, for=198.51.100.1;proto=https' })).toBe(
    network('198.51.100.1'),
  )
  expect(client('10.0.0.1', { Forwarded: 'by=10.0.0.1; For="[2001:db8::1]:4711"' })).toBe(network('2001:db8::1'))
  expect(client('10.0.0.1', { Forwarded: 'for=unknown' })).toBe(network('10.0.0.1'))
  // Most proxies set one of the headers and pass the other on.
  expect(client('10.0.0.1', { ...for_('198.51.100.1'), Forwarded: 'for=203.0.113.9' })).toBe(network('198.51.100.1'))
  expect(client(undefined, for_('198.51.100.1'))).toBeUndefined()
})

test('clientBehind: a proxy on the Unix socket is trusted only when it is listed', () => {
  const headers = new Headers({ 'X-Forwarded-For': '203.0.113.9, 198.51.100.1' })
  const named = findClient('unix', headers, ['unix'])
  expect(typeof named === 'object' ? toNetwork(named) : named).toBe(network('198.51.100.1'))
  expect(findClient('unix', headers, ranges('0.0.0.0/0', '::/0'))).toBe('unix')
  expect(findClient('unix', new Headers(), ['unix'])).toBe('unix')
  // A TCP peer is not trusted by the range `unix`, and the text `unix` in a header is not an address.
  expect(findClient('10.0.0.1', headers, ['unix'])).toEqual(parseIpAddress('10.0.0.1'))
  expect(findClient('10.0.0.1', new Headers({ 'X-Forwarded-For': 'unix' }), ranges('10.0.0.1'))).toEqual(
    parseIpAddress('10.0.0.1'),
  )
})

test('ipAddressText: the text is the one that was parsed', () => {
  const texts = ['192.0.2.1', '0.0.0.0', '255.255.255.255', '2001:db8:0:0:0:0:0:1', 'fe80:1:2:3:4:5:6:ffff']
  for (const text of texts) {
    const address = parseIpAddress(text)
    expect(address === undefined ? undefined : ipAddressText(address)).toBe(text)
  }
})
