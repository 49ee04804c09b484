import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { createHttpCounts } from './counts.ts'
import {
  ClientGone,
  findClient,
  type Handler,
  type IpRange,
  ipAddressText,
  isInRange,
  MAX_PARAMETERS,
  parse,
  parseIpAddress,
  parseIpRange,
  parseQuery,
  parseTarget,
  toNetwork,
} from './exchange.ts'
import { createStream } from './export/stream.ts'
import { JSON_TYPE, PIECE_BYTES, textReply } from './reply.ts'
import { respond, startDeadline } from './request.ts'
import { createSampling, send } from './send.ts'

test.each([
  ['', []],
  ['&&', []],
  ['a', [['a', '']]],
  ['a=', [['a', '']]],
  ['a=b=c', [['a', 'b=c']]],
  ['a=x+y%2B', [['a', 'x y+']]],
  ['a=猫%41', [['a', '猫A']]],
])('parseQuery: %j', (text, query) => {
  expect(parseQuery(text)).toEqual({ query: query as never, keys: [], fault: undefined })
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
  const name = fc.oneof(
    text.filter(name => name !== '' && name !== 'apikey'),
    fc.constantFrom('a', '__proto__', 'constructor', '\uFEFF\0'),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, text), { maxLength: 20 }), pairs => {
      const written = new URLSearchParams(pairs).toString()
      expect(parseQuery(written)).toEqual({ query: pairs, keys: [], fault: undefined })
    }),
  )
})

test.each([
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
])('parseTarget: %s', (url, path, query) => {
  expect(parseTarget(url)).toEqual({ path, query })
})

const ranges = (...texts: readonly string[]): readonly IpRange[] => texts.flatMap(text => parseIpRange(text) ?? [])
function network(text: string): string | undefined {
  const address = parseIpAddress(text)
  return address === undefined ? undefined : toNetwork(address)
}

test('IP addresses: only addresses are read, and addresses in one /64 are one network', () => {
  for (const text of ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:0201']) expect(network(text)).toBe('c0000201')
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

test('createSampling: the first of every N is sampled', () => {
  const sample = (every: number) => Array.from({ length: 5 }, createSampling(every)).map(Number).join('')
  expect([3, 1, 0].map(sample)).toEqual(['10010', '11111', '00000'])
})

/** A request, and a service whose connections note the idle timeouts that are set, and are open until `close`. */
function serving() {
  const clock = handClock(0)
  const limited: unknown[] = []
  const state = { isOpen: true, freed: 0 }
  const service = {
    ...{ log: () => undefined, isLogged: () => false, clientOf: () => undefined },
    ...{ basePath: '', deadlineMs: 5, clock, counts: createHttpCounts() },
    defaults: { format: 'envelope', compat: 'none' },
    connections: {
      limitIdle: (...limit: readonly unknown[]) => void limited.push(limit),
      isOpen: () => state.isOpen,
    },
  } as const
  const request = new Request('http://127.0.0.1/api/')
  const sendReply = (reply: Parameters<typeof send>[1]) => send(parse(request, 'api', service), reply, service)
  const sendHeld = (text: string, stallMs: number) => {
    const free = () => void state.freed++
    return sendReply({ ...textReply(200, { type: JSON_TYPE, text }), held: { stallMs, free } })
  }
  return { clock, limited, state, request, service, sendReply, sendHeld }
}

test('send: a streamed body may be silent for longer than the idle time of connections', () => {
  const { clock, limited, request, sendReply } = serving()
  const pieces = async function* (): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(1)
  }
  const body = createStream(pieces(), { client: request.signal, clock, stallMs: 60_000, free: () => undefined })
  sendReply({ status: 200, type: JSON_TYPE, headers: {}, form: 'raw', body })
  expect(limited).toEqual([[request, 0]])
  body.cutOff('gone')
})

test.each([
  [1_500, 2],
  [600_000, 255],
])('send: what a body of known length holds is freed when it was sent; idle after %d ms', async (stallMs, seconds) => {
  const { clock, limited, state, request, sendHeld } = serving()
  sendHeld('x'.repeat(PIECE_BYTES + 1), stallMs)
  expect(limited).toEqual([[request, seconds]])
  await clock.pass(60_000)
  expect(state.freed).toBe(0)
  state.isOpen = false
  await clock.pass(60_000)
  expect(state.freed).toBe(1)
})

test('send: a short body of known length holds nothing, so that one small export can follow another', () => {
  const { state, sendHeld } = serving()
  sendHeld('{}', 1_000)
  expect(state.freed).toBe(1)
})

const never = new AbortController().signal

test('startDeadline: the signal aborts when the client leaves, before or meanwhile', async () => {
  const client = new AbortController()
  const deadline = startDeadline({ ms: 60_000, client: client.signal })
  client.abort()
  const late = startDeadline({ ms: 60_000, client: client.signal })
  for (const each of [deadline, late]) {
    await expect(each.over).rejects.toBeInstanceOf(ClientGone)
    expect(each.signal.aborted).toBe(true)
    each.end()
  }
})

test('startDeadline: the service can abort it until the answer is complete', () => {
  const running: Parameters<typeof startDeadline>[0]['running'] = new Set()
  const deadline = startDeadline({ ms: 60_000, client: never, running })
  expect(running.size).toBe(1)
  deadline.end()
  expect(running.size).toBe(0)
})

test('startDeadline: after all longer work is done, the rest has the usual time', async () => {
  const deadline = startDeadline({ ms: 1, client: never })
  const [one, other] = [deadline.prolong(undefined), deadline.prolong(60_000)]
  one()
  one()
  const ended = startDeadline({ ms: 1, client: never })
  const restore = ended.prolong(undefined)
  ended.end()
  restore()
  await Bun.sleep(10)
  expect([deadline.signal.aborted, ended.signal.aborted]).toEqual([false, false])
  other()
  await expect(deadline.over).rejects.toMatchObject({ message: 'The request took longer than 1 ms.' })
})

test('respond: long work gets the time it requests, and never less, on a connection that stays open', async () => {
  const { service, request, limited } = serving()
  const statusAfter = async (...times: readonly (number | undefined)[]): Promise<number> => {
    const slowly: Handler = async (_exchange, _signal, prolong) => {
      for (const each of times) prolong(each)
      await Bun.sleep(30)
      return textReply(200, { type: JSON_TYPE, text: '{}' }, { headers: {}, form: 'raw' })
    }
    return (await respond('test', slowly, service)(request)).status
  }
  expect([await statusAfter(undefined), limited]).toEqual([200, [[request, 0]]])
  expect([await statusAfter(1), await statusAfter(60_000, 1)]).toEqual([504, 200])
})
