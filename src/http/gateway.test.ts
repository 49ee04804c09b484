import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { ForwardedResponse, Node } from '#node/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { createGateway } from './gateway.ts'
import { toNodePath } from './rpc.ts'
import { formatExamplePath, rpcMethods } from './rpc-methods.ts'

test('paths of the node: examples and names are accepted; dots, escapes and invalid names never', () => {
  for (const path of [
    ...rpcMethods.map(method => formatExamplePath(method).slice('/rpc'.length)),
    '/getAccount/__proto__/false',
    '/getAccount/0x7d3f3f3a2b7a5f6c5f4e3d2c1b0a998877665544/1',
    '/getTokenBalance/ContractD3EUhiyWJYNhoZa6kYSk1nR1XdVk2cDYQweyTdgdAxWw/1e5/true',
    '/getToken721Owner/x/-1/true',
    '/getBlockByNumber/9999999999999999999/false',
  ])
    expect(toNodePath(`/rpc${path}`)).toBe(path)
  const dots = ['..', '.', '...', '%2e%2e', '%00']
  for (const segment of [...dots, 'a%2Fb', 'a\\b', 'a b', 'a?b', 'a#b', 'a;b', '猫', 'a\n', 'a'.repeat(101)])
    expect(() => toNodePath(`/rpc/getAccount/${segment}/true`)).toThrow(
      expect.objectContaining({ kind: 'bad_request' }),
    )
})

type Given = Partial<Omit<ForwardedResponse, 'body'>> & { readonly text?: string }

/** A call to the node, which the test answers. */
function openCall(path: string, signal: AbortSignal, nth: number) {
  const { promise, resolve, reject } = Promise.withResolvers<ForwardedResponse>()
  signal.addEventListener('abort', () => reject(signal.reason as Error))
  const answer = ({ text = `{"call":${nth}}`, ...over }: Given = {}) =>
    resolve({
      ...{ status: 200, contentType: 'application/json', body: new TextEncoder().encode(text), isFirst: true },
      ...{ reaches: () => true, refreshHeight: async () => undefined, isUsable: () => true },
      release: () => {
        call.released += 1
      },
      ...over,
    })
  const call = { path, signal, answered: promise, fail: reject, released: 0, answer }
  return call
}

function setUp({ maxBytes = 100_000 } = {}) {
  const clock = handClock()
  const calls: ReturnType<typeof openCall>[] = []
  let bytes = 0
  const get: Node['get'] = (path, { signal = new AbortController().signal } = {}) => {
    const call = openCall(path, signal, calls.length + 1)
    calls.push(call)
    return call.answered
  }
  const node = { get, lastInfo: () => ({ libBlock: 100 }) } as unknown as Node
  const onKept = (now: number) => {
    bytes = now
  }
  const gateway = createGateway(node, { clock, maxBytes, onAnswer: () => undefined, onKept })
  /** The reader's result: the text, or the message of the failure. */
  const ask = async (path: string, signal = new AbortController().signal): Promise<string> => {
    try {
      const answer = gateway.kept(path) ?? (await gateway.ask(path, signal))
      answer.release()
      return new TextDecoder().decode(answer.body)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  /** The result when the node answers so at once, if it is asked. */
  const answered = (path: string, given?: Given): Promise<string> => {
    const asked = ask(path)
    calls.at(-1)?.answer(given)
    return asked
  }
  return { clock, calls, gateway, ask, answered, bytes: () => bytes }
}

const block = (number: number, status = 'IRREVERSIBLE') =>
  `{"status":"${status}", "block":{"hash":"h${number}", "number":"${number}"}}`

test('gateway: a failure is reported to all waiting requests, and to none after them', async () => {
  const { ask, answered, calls } = setUp()
  const asked = [ask('/getChainInfo'), ask('/getChainInfo')]
  calls[0]?.fail(new Failure('unavailable', 'No node responded.'))
  expect(await Promise.all(asked)).toEqual(['No node responded.', 'No node responded.'])
  expect([await answered('/getChainInfo'), calls.length]).toEqual(['{"call":2}', 2])
})

test.each<readonly [string, Given]>([
  ['a status of the node itself', { status: 500 }],
  ['a refusal', { status: 400, text: '{"code":2,"message":"tx not found"}' }],
  ['another type', { contentType: 'text/html' }],
  ['no type', { contentType: undefined }],
  ['a body that is cut off', { text: '{"head_block":"1' }],
  ['an empty body', { text: '' }],
])('gateway: %s is passed on and not cached', async (_, given) => {
  const { answered, calls, bytes } = setUp()
  for (const nth of [1, 2]) expect(await answered('/getChainInfo', given)).toBe(given.text ?? `{"call":${nth}}`)
  expect([calls.length, bytes()]).toEqual([2, 0])
})

test('gateway: each reader waits with its own signal, and the call ends with the last reader', async () => {
  const { ask, calls } = setUp()
  const [first, second] = [new AbortController(), new AbortController()]
  const asked = [ask('/getChainInfo', first.signal), ask('/getChainInfo', second.signal), ask('/getRAMInfo')]
  first.abort(new Error('first'))
  expect(await asked[0]).toBe('first')
  expect(calls[0]?.signal.aborted).toBe(false)
  second.abort(new Error('second'))
  expect(await asked[1]).toBe('second')
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false])
  // The next request does not join a call that has ended.
  const next = ask('/getChainInfo')
  calls[2]?.answer()
  calls[1]?.answer()
  expect([await next, await asked[2]]).toEqual(['{"call":3}', '{"call":2}'])
})

test('gateway: a call from half a second ago is neither joined nor reused', async () => {
  const { ask, answered, calls, clock } = setUp()
  const old = ask('/getChainInfo')
  await clock.pass(500)
  expect([await answered('/getChainInfo', { text: '{"head":2}' }), calls.length]).toEqual(['{"head":2}', 2])
  // An answer to an earlier call does not replace that of a later one.
  calls[0]?.answer({ text: '{"head":1}' })
  expect([await old, await ask('/getChainInfo')]).toEqual(['{"head":1}', '{"head":2}'])
  await clock.pass(499)
  expect([await ask('/getChainInfo'), calls.length]).toEqual(['{"head":2}', 2])
  await clock.pass(1)
  expect(await answered('/getChainInfo', { text: '{"head":3}' })).toBe('{"head":3}')
})

test.each([
  ['/getBlockByNumber/7/true', block(7), true],
  ['/getBlockByNumber/0007/false', block(7), true],
  ['/getBlockByHash/h7/true', block(7), true],
  ['/getRawBlockByNumber/7/true', '{"status":"IRREVERSIBLE","block":{"head":{"number":"7"}}}', true],
  ['/getTxByHash/t', '{"status":"IRREVERSIBLE","transaction":{"hash":"t"},"block_number":"7"}', true],
  ['/getTxByHash/t', '{"status":"PACKED","transaction":{"hash":"t"},"block_number":"7"}', false],
  ['/getTxByHash/t', '{"status":"IRREVERSIBLE","transaction":{"hash":"u"},"block_number":"7"}', false],
  ['/getBlockByNumber/7/true', block(7, 'PENDING'), false],
  ['/getBlockByNumber/8/true', block(7), false],
  ['/getBlockByHash/h8/true', block(7), false],
  ['/getBlockByNumber/101/true', block(101), false],
  ['/getBlockByNumber/7/true', '{"status":"IRREVERSIBLE","block":null}', false],
  ['/getBlockByNumber/7/true', '{"status":"IRREVERSIBLE",}', false],
  ['/getAccount/status/true', '{"status":"IRREVERSIBLE"}', false],
])('gateway: %s, answered %s, is cached for a minute: %p', async (path, text, isFinal) => {
  const { answered, clock } = setUp()
  expect(await answered(path, { text })).toBe(text)
  await clock.pass(59_999)
  expect(await answered(path)).toBe(isFinal ? text : '{"call":2}')
  await clock.pass(1)
  if (isFinal) expect(await answered(path)).toBe('{"call":2}')
})

test('gateway: the cached bytes are bounded, and each answer is released once, when no reader needs it', async () => {
  const { answered, calls, bytes, gateway } = setUp({ maxBytes: 10_000 })
  const text = `{"x":"${'x'.repeat(2_000)}"}`
  for (let at = 0; at < 50; at++) {
    await answered(`/getAccount/a${at}/true`, { text })
    expect(bytes()).toBeLessThanOrEqual(10_000)
  }
  expect(bytes()).toBeGreaterThan(5_000)
  const kept = calls.filter(({ released }) => released === 0)
  expect([kept.length, calls.filter(({ released }) => released === 1).length]).toEqual([3, 47])
  // A reader keeps its answer beyond the answer's cache time.
  const slow = gateway.kept(kept[0]?.path ?? '')
  for (let at = 50; at < 60; at++) await answered(`/getAccount/a${at}/true`, { text })
  expect(kept.map(({ released }) => released)).toEqual([0, 1, 1])
  slow?.release()
  slow?.release()
  expect(kept[0]?.released).toBe(1)
  // An answer above the size limit is passed on uncached.
  const large = await answered('/getContract/large/true', { text: `{"x":"${'x'.repeat(20_000)}"}` })
  expect([large.length, calls[60]?.released]).toEqual([20_008, 1])
})
