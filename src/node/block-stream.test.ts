import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { createShares, prefetchRanges } from './block-stream.ts'
import { parseEndpoint } from './http.ts'
import { createNodePool } from './pool.ts'

function poolOf(names: readonly string[]) {
  const clock = handClock()
  const endpoints = names.map(name => parseEndpoint(`http://${name}`))
  return { clock, pool: createNodePool(endpoints, clock) }
}

function sharesOf(names: readonly string[], most: number) {
  const { clock, pool } = poolOf(names)
  const shares = createShares(pool, clock.elapsed, most)
  type Member = (typeof pool.members)[number]
  const nameOf = (member: Member | undefined) => member?.endpoint.name.slice(7)
  const named = (name: string) => pool.members.find(each => nameOf(each) === name) as Member
  const taken = (times: number): string => Array.from({ length: times }, () => nameOf(shares.take(9)) ?? '-').join(' ')
  return { pool, shares, named, taken }
}

test('take: a node that lacks the block, rests, is silent or of another chain gets no range, unless no other is known', () => {
  const { pool, named, taken } = sharesOf(['a', 'b', 'c', 'd'], 3)
  for (const member of pool.members) member.lib = 9
  named('a').lib = 8
  named('b').foreign = 'chain 7'
  pool.noteFailure(named('c'))
  expect(taken(4)).toBe('d d d -')
  const alone = sharesOf(['a'], 2)
  alone.pool.noteFailure(alone.named('a'))
  expect(alone.taken(3)).toBe('a a -')
})

test('shares of nodes: a late node has half of its places, at least one, and then skips ranges, more each time', () => {
  const { shares, named, taken } = sharesOf(['a', 'b'], 4)
  const late = named('b')
  const rangesWithoutB = (): number => {
    for (let ranges = 0; ; ranges += 1) {
      const member = shares.take(9)
      if (member === undefined) throw new Error('No place is free.')
      if (member === late) return ranges
      shares.noteArrival(member, true)
    }
  }
  expect(taken(4)).toBe('a b a b')
  shares.noteArrival(named('a'), true)
  shares.noteArrival(named('a'), true)
  shares.noteLate(late)
  // Both places of node b are taken.
  expect(taken(4)).toBe('a a a a')
  for (let times = 0; times < 4; times += 1) shares.noteArrival(named('a'), true)
  shares.freePlace(late)
  shares.freePlace(late)
  shares.noteLate(late)
  expect(taken(3)).toBe('b a a')
  for (let times = 0; times < 2; times += 1) shares.noteArrival(named('a'), true)
  const sitting: number[] = []
  for (let times = 0; times < 3; times += 1) {
    shares.noteLate(late)
    shares.freePlace(late)
    sitting.push(rangesWithoutB())
  }
  expect(sitting).toEqual([8, 16, 32])
  // A node that keeps up gets more places again and sits out no more.
  shares.noteArrival(late, true)
  expect(rangesWithoutB()).toBe(1)
})

type Request = { readonly node: string; readonly at: number; readonly isCancelled: () => boolean } & {
  readonly [how in 'give' | 'fail']: () => Promise<void>
}

/** Ranges of one block each, 0 … `to`. The test determines the nodes' answers and their time. */
function asking(
  names: readonly string[],
  { to, places, most }: { readonly to: number; readonly places: number; readonly most: number },
) {
  const { clock, pool } = poolOf(names)
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
  const at = (node: string, from: number) => of(node).find(request => request.at === from) as Request
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
  expect([await first, asked.join(' ')]).toEqual(['0 of a', 'a0 b1'])
  const last = ranges.next()
  expect(asked.join(' ')).toBe('a0 b1 a1')
  await at('a', 1).give()
  expect([await last, at('b', 1).isCancelled()]).toEqual(['1 of a', true])
})
