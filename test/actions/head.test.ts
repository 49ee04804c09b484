import { describe, expect, test } from 'bun:test'
import { askedOnce } from '#actions/find/head.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'

const signal = AbortSignal.timeout(60_000)

describe('askedOnce', () => {
  test('askedOnce: one answer of a node serves half a second, each node its own', async () => {
    let now = 0
    let times = 0
    const ask = askedOnce(async () => ++times, { now: () => now })
    const [one, other] = [spokenNode({}), spokenNode({})]
    const said: unknown[] = []
    for (const [at, node] of [
      [0, one],
      [499, one],
      [499, other],
      [500, one],
    ] as readonly (readonly [number, Node])[]) {
      now = at
      said.push(await ask({ node, signal }))
    }
    expect(said).toEqual([1, 1, 2, 3])
  })
  test('askedOnce: without a node, and while none answers, there is no answer', async () => {
    const ask = askedOnce(async () => {
      throw new Failure('unavailable', 'No node answers.')
    })
    expect(await ask({ node: undefined, signal })).toBeUndefined()
    expect(await ask({ node: spokenNode({}), signal })).toBeUndefined()
  })
  test('askedOnce: silence is kept for five seconds', async () => {
    let now = 0
    let times = 0
    const ask = askedOnce(
      async () => {
        times += 1
        throw new Failure('unavailable', 'No node answers.')
      },
      { now: () => now },
    )
    const node = spokenNode({})
    for (now of [0, 4999, 5000]) await ask({ node, signal })
    expect(times).toBe(2)
  })
  test('askedOnce: a node that hangs is not waited for, and asked only once', async () => {
    let times = 0
    const ask = askedOnce(
      () => {
        times += 1
        return new Promise<never>(() => undefined)
      },
      { patienceMs: 1 },
    )
    const node = spokenNode({})
    expect([await ask({ node, signal }), await ask({ node, signal })]).toEqual([undefined, undefined])
    expect(times).toBe(1)
  })
  test('askedOnce: a defect is not taken for silence', async () => {
    const ask = askedOnce(async () => {
      throw new TypeError('Ours.')
    })
    await expect(ask({ node: spokenNode({}), signal })).rejects.toThrow('Ours.')
  })
  test('askedOnce: a request whose time is over does not wait, the others do', async () => {
    const answer = Promise.withResolvers<string>()
    const ask = askedOnce(() => answer.promise)
    const node = spokenNode({})
    const late = new AbortController()
    const first = ask({ node, signal: late.signal }).catch(error => (error as Failure).kind)
    const second = ask({ node, signal })
    late.abort()
    expect(await first).toBe('deadline')
    answer.resolve('said')
    expect(await second).toBe('said')
  })
})
