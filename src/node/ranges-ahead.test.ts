import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { parseEndpoint } from './endpoint.ts'
import { createNodePool } from './pool.ts'
import { prefetchRanges } from './ranges-ahead.ts'
import { createShares } from './shares.ts'

type Request = {
  readonly node: string
  readonly at: number
  readonly isCancelled: () => boolean
  readonly give: () => Promise<void>
  readonly fail: () => Promise<void>
}

/** Ranges of one block each, 0 … `to`. The test determines the nodes' answers and their time. */
function asking(
  names: readonly string[],
  { to, places, most }: { readonly to: number; readonly places: number; readonly most: number },
) {
  const clock = handClock()
  const pool = createNodePool(
    names.map(name => parseEndpoint(`http://${name}`)),
    clock,
  )
  const open: Request[] = []
  const asked: string[] = []
  const ranges = prefetchRanges({
    shares: createShares(pool, clock.elapsed, places),
    after: before => {
      const at = before === undefined ? 0 : before.to + 1
      return at > to ? undefined : { from: at, to: at }
    },
    fetch: ({ from }, { member, signal }) => {
      const node = member.endpoint.name.slice(7)
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const over = async (how: () => void): Promise<void> => {
        open.splice(open.indexOf(request), 1)
        how()
        await clock.settle()
      }
      const request: Request = {
        ...{ node, at: from },
        isCancelled: () => signal.aborted,
        give: () => over(() => resolve(`${from} of ${node}`)),
        fail: () => over(() => reject(new Error(`${from} of ${node}`))),
      }
      open.push(request)
      asked.push(`${node}${from}`)
      return promise
    },
    most,
    signal: new AbortController().signal,
  })
  const of = (node: string): readonly Request[] => open.filter(request => request.node === node)
  const at = (node: string, from: number): Request => {
    const found = open.find(request => request.node === node && request.at === from)
    if (found === undefined) throw new Error(`${node} was not asked for ${from}.`)
    return found
  }
  return { ranges, open, of, at, asked, settle: clock.settle }
}

test('next: ranges are returned in order, however they arrive, and no more are read ahead than may be held', async () => {
  const { ranges, at, asked } = asking(['a'], { to: 5, places: 3, most: 3 })
  const first = ranges.next()
  expect(asked.join(' ')).toBe('a0 a1 a2')
  await at('a', 2).give()
  await at('a', 1).give()
  expect(asked.join(' ')).toBe('a0 a1 a2')
  await at('a', 0).give()
  expect(await first).toBe('0 of a')
  expect(await ranges.next()).toBe('1 of a')
  expect(asked.join(' ')).toBe('a0 a1 a2 a3')
  expect(await ranges.next()).toBe('2 of a')
})

test('next: two nodes of equal speed get the same number of ranges', async () => {
  const { ranges, open, asked } = asking(['a', 'b'], { to: 99, places: 2, most: 4 })
  for (let at = 0; at < 100; at += 1) {
    const next = ranges.next()
    while (open.length > 0) await open[0]?.give()
    expect(await next).toStartWith(`${at} of `)
  }
  expect(await ranges.next()).toBeUndefined()
  expect(asked.filter(each => each.startsWith('a')).length).toBe(50)
  expect(asked.length).toBe(100)
})

test('next: a range that a node delays is requested from another one, and the node gets fewer and fewer ranges', async () => {
  const { ranges, of, asked, settle } = asking(['a', 'b'], { to: 499, places: 4, most: 8 })
  for (let at = 0; at < 500; at += 1) {
    const next = ranges.next()
    await settle()
    // Node b never answers.
    while (of('a').length > 0) await of('a')[0]?.give()
    expect(await next).toBe(`${at} of a`)
  }
  expect(await ranges.next()).toBeUndefined()
  expect(of('b').every(({ isCancelled }) => isCancelled())).toBe(true)
  expect(asked.filter(each => each.startsWith('b')).length).toBeLessThan(15)
  expect(asked.filter(each => each.startsWith('a')).length).toBe(500)
})

test('next: a slow node continues at its own pace, and its answers are used', async () => {
  const { ranges, of, settle } = asking(['a', 'b'], { to: 399, places: 4, most: 8 })
  const taken: string[] = []
  const taking = (async () => {
    for (let range = await ranges.next(); range !== undefined; range = await ranges.next()) taken.push(range)
  })()
  for (let turns = 0; taken.length < 400; turns += 1) {
    await settle()
    await of('a')[0]?.give()
    // Node b answers once for every three answers of node a.
    if (turns % 3 === 0) await of('b')[0]?.give()
  }
  await taking
  expect(taken.map(each => Number(each.split(' ')[0]))).toEqual(Array.from({ length: 400 }, (_, at) => at))
  expect(taken.filter(each => each.endsWith('b')).length).toBeGreaterThan(60)
})

test('next: a failed range is thrown in its turn, unless another node returns it', async () => {
  const { ranges, at } = asking(['a', 'b'], { to: 3, places: 2, most: 4 })
  const first = ranges.next()
  await at('b', 1).give()
  await at('b', 3).give()
  // Node b is asked for the ranges that node a holds up.
  await at('a', 0).fail()
  await at('b', 0).give()
  expect(await first).toBe('0 of b')
  expect(await ranges.next()).toBe('1 of b')
  await at('a', 2).fail()
  expect(ranges.next()).rejects.toThrow('2 of a')
})

test('next: the last range is requested from another node when its own node makes no progress', async () => {
  const { ranges, at, asked } = asking(['a', 'b'], { to: 1, places: 1, most: 2 })
  const first = ranges.next()
  await at('a', 0).give()
  expect(await first).toBe('0 of a')
  expect(asked.join(' ')).toBe('a0 b1')
  const last = ranges.next()
  expect(asked.join(' ')).toBe('a0 b1 a1')
  await at('a', 1).give()
  expect(await last).toBe('1 of a')
  expect(at('b', 1).isCancelled()).toBe(true)
})
