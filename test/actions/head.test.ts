import { describe, expect, test } from 'bun:test'
import { sharedQuery } from '#actions/find/node-answer.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'

const signal = AbortSignal.timeout(600_000)

describe('sharedQuery', () => {
  test('sharedQuery: one answer of a node is reused for half a second, separately for each node', async () => {
    const clock = handClock()
    let times = 0
    const ask = sharedQuery(async () => ++times)
    const [one, other] = [spokenNode({}), spokenNode({})]
    const said: unknown[] = []
    for (const [at, node] of [
      [0, one],
      [499, one],
      [499, other],
      [500, one],
    ] as readonly (readonly [number, Node])[]) {
      clock.leap(at - clock.elapsed())
      said.push(await ask({ node, signal, clock }))
    }
    expect(said).toEqual([1, 1, 2, 3])
  })
  test('sharedQuery: returns no answer without a node, and while no node answers', async () => {
    const ask = sharedQuery(async () => {
      throw new Failure('unavailable', 'No node answers.')
    })
    expect(await ask({ node: undefined, signal, clock: handClock() })).toBeUndefined()
    expect(await ask({ node: spokenNode({}), signal, clock: handClock() })).toBeUndefined()
  })
  test('sharedQuery: a failure to answer is remembered for five seconds', async () => {
    const clock = handClock()
    let times = 0
    const ask = sharedQuery(async () => {
      times += 1
      throw new Failure('unavailable', 'No node answers.')
    })
    const node = spokenNode({})
    for (const ms of [0, 4999, 1]) {
      clock.leap(ms)
      await ask({ node, signal, clock })
    }
    expect(times).toBe(2)
  })
  test('sharedQuery: a node that hangs is asked only once, and does not block callers', async () => {
    let times = 0
    const ask = sharedQuery(() => {
      times += 1
      return new Promise<never>(() => undefined)
    }, 1)
    const node = spokenNode({})
    expect([await ask({ node, signal, clock: handClock() }), await ask({ node, signal, clock: handClock() })]).toEqual([
      undefined,
      undefined,
    ])
    expect(times).toBe(1)
  })
  test('sharedQuery: an internal error is thrown, not treated as a missing answer', async () => {
    const ask = sharedQuery(async () => {
      throw new TypeError('Ours.')
    })
    await expect(ask({ node: spokenNode({}), signal, clock: handClock() })).rejects.toThrow('Ours.')
  })
  test('sharedQuery: a request past its deadline stops waiting while the others continue', async () => {
    const answer = Promise.withResolvers<string>()
    const ask = sharedQuery(() => answer.promise)
    const node = spokenNode({})
    const late = new AbortController()
    const first = ask({ node, signal: late.signal, clock: handClock() }).catch(error => (error as Failure).kind)
    const second = ask({ node, signal, clock: handClock() })
    late.abort()
    expect(await first).toBe('deadline')
    answer.resolve('said')
    expect(await second).toBe('said')
  })
})
