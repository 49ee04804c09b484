import { expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import type { NodeEvent } from '#node/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { GENESIS, hangs, LAST_HASH, OURS, PATH, pair, refuses, statusOf } from '../support/nodes/pair.ts'
import { at, changed } from '../support/nodes/read-blocks.ts'

const drips: Fault = () => new Response(new ReadableStream({ start: body => body.enqueue(new Uint8Array([123])) }))
const saying = (change: (info: string) => string) => at(path => path === '/getChainInfo', changed(change))
const otherChain = saying(text => text.replace('"chain_id":1020', '"chain_id":1024'))
const otherGenesis = changed(text => text.replace(GENESIS, GENESIS.replace('H', 'J')))
const otherBeginning = at(path => path === '/getBlockByNumber/0/false', otherGenesis)

async function watchedPair(options?: Parameters<typeof pair>[0]) {
  const nodes = await pair(options)
  await nodes.node.watch(async () => OURS)
  return nodes
}
/** The outcome of a request, and the number of requests that each node has received for it so far. */
const requestIn = async ({ node, passed }: Awaited<ReturnType<typeof pair>>) => [
  await statusOf(node.get(PATH)),
  passed(),
]

test('get: the highest healthy node is asked, and one that lags 4,751 blocks is replaced by the next', async () => {
  await using nodes = await watchedPair({ sickTo: 100, wellTo: 90 })
  expect(await requestIn(nodes)).toEqual([200, [1, 0]])
  expect(nodes.node.lastInfo()?.libBlock).toBe(100)
  await using lagging = await watchedPair({ sickTo: 100 })
  expect(await requestIn(lagging)).toEqual([200, [0, 1]])
})

test.each([
  ['hangs', hangs],
  ['drips', drips],
] as const)('get: the next node is asked beside one that %s, within the request', async (_name, fault) => {
  await using nodes = await watchedPair()
  nodes.become(fault)
  const asked = statusOf(nodes.node.get(PATH))
  await nodes.clock.awaited(700)
  await nodes.clock.pass(700)
  expect([await asked, nodes.passed()]).toEqual([200, [1, 1]])
  // The next requests prefer the other node.
  expect(await requestIn(nodes)).toEqual([200, [1, 2]])
})

test('get: the next node is asked at once if one answers 503 to everything', async () => {
  await using nodes = await watchedPair()
  nodes.become(refuses)
  expect(await requestIn(nodes)).toEqual([200, [1, 1]])
})

test('get: the request ends at its time limit when all nodes hang', async () => {
  const clock = handClock()
  let hanging = false
  await using hung = await startFaultyNode(() => (hanging ? new Promise<never>(() => undefined) : undefined))
  const node = createNode({ urls: [hung.url], clock, requestMs: 3_333 })
  await node.watch(async () => OURS)
  hanging = true
  const asked = statusOf(node.get('/getRAMInfo'))
  await clock.awaited(3_333)
  await clock.pass(3_333)
  expect(await asked).toBe('unavailable')
  node.close()
})

test.each([
  ['hangs', hangs],
  ['answers 503 to everything', refuses],
  ['is of another chain', otherChain],
  ['has another first block', otherBeginning],
] as const)('watch: a node that %s from the start is never asked', async (_name, fault) => {
  await using nodes = await pair({ wellTo: 50 })
  nodes.become(fault)
  const watched = nodes.node.watch(async () => OURS)
  if (fault === hangs) {
    // The other node has answered.
    await nodes.clock.awaited(1_500, 1)
    await nodes.clock.pass(1_500)
  }
  await watched
  expect(await requestIn(nodes)).toEqual([200, [0, 1]])
  expect(nodes.node.lastInfo()?.libBlock).toBe(50)
})

test('watch: the stored chain decides which nodes are used, not the first node that answers', async () => {
  await using foreign = await startFaultyNode(otherChain)
  const events: NodeEvent[] = []
  const node = createNode({ urls: [foreign.url], clock: handClock(), onEvent: event => events.push(event) })
  await node.watch(async () => OURS)
  expect(await statusOf(node.get(PATH))).toBe('unavailable')
  expect(await statusOf(node.chainInfo().then(() => ({ status: 200 })))).toBe('conflict')
  expect(events).toEqual([{ type: 'foreign', node: foreign.url, detail: 'chain 1024, not 1020' }])
  node.close()
})

test('watch: a node that falls silent is reported once, not used, and used again when it is back', async () => {
  await using nodes = await watchedPair()
  nodes.become(refuses)
  await nodes.look()
  await nodes.look()
  expect(await requestIn(nodes)).toEqual([200, [0, 1]])
  nodes.become(() => undefined)
  await nodes.look()
  const told = nodes.events.filter(({ node }) => node === nodes.sick.url)
  expect(told.map(({ type, detail }) => [type, detail])).toEqual([
    ['heard', 'block 4851'],
    ['silent', 'status 503'],
    ['heard', 'block 4851'],
  ])
  expect(await requestIn(nodes)).toEqual([200, [1, 1]])
})

test('reportAgeMs: the time since the last answered probe is returned', async () => {
  await using nodes = await pair({ wellTo: 100 })
  expect(nodes.node.reportAgeMs()).toBeUndefined()
  await nodes.node.watch(async () => OURS)
  expect(nodes.node.reportAgeMs()).toBe(0)
  await nodes.sick[Symbol.asyncDispose]()
  await nodes.well[Symbol.asyncDispose]()
  for (let looks = 0; looks < 3; looks++) await nodes.look()
  expect([nodes.node.lastInfo(), nodes.node.reportAgeMs()]).toEqual([undefined, 3_000])
})

test('watch: no node is asked after the end', async () => {
  await using nodes = await watchedPair()
  nodes.node.close()
  const asked = nodes.sick.asked.length
  await nodes.clock.pass(10_000)
  expect(nodes.sick.asked.length).toBe(asked)
  expect(await statusOf(nodes.node.get(PATH))).toBe('deadline')
})

const TOO_HIGH = '1000000000000000'
const IS_TOO_HIGH = `it reports block ${TOO_HIGH} as its`

test.each([
  ['a last irreversible block that is absurd', /"(lib_block|head_block)":"\d+"/g, TOO_HIGH, IS_TOO_HIGH],
  ['a head that is absurd', /"(head_block)":"\d+"/g, TOO_HIGH, IS_TOO_HIGH],
  ['a head below the last irreversible block', /"(head_block)":"\d+"/g, '4850', ''],
])('lastInfo: %s is not accepted, neither at first nor when it is repeated', async (_, said, height, why) => {
  const wrong = saying(text => text.replace(said, (_all, name) => `"${name}":"${height}"`))
  for (const first of [true, false]) {
    await using nodes = await pair()
    if (first) nodes.become(wrong)
    await nodes.node.watch(async () => OURS)
    nodes.become(wrong)
    for (let looks = 0; looks < 4; looks += 1) {
      await nodes.look()
      expect(nodes.node.lastInfo()).toMatchObject({ libBlock: 4851, headBlock: 4851 })
    }
    const silent = nodes.events.filter(({ node, type }) => node === nodes.sick.url && type === 'silent')
    expect(silent.map(({ detail }) => detail.includes(why))).toEqual(first ? [true] : [])
  }
})

/** A store whose last block is the chain's, of this time. */
const storedAt = (time: bigint) => ({
  last: async () => ({ height: 4_851, hash: LAST_HASH, time }),
  hashAt: async () => undefined,
})

/** Two nodes, of which the sick one makes up block 90,000. `seconds`: time since the stored block. */
async function makingUp(seconds: number) {
  const START = 1_600_000_000
  const nodes = await pair({ start: (START + seconds) * 1_000 })
  const claim = saying(text => text.replace(/"(lib|head)_block":"\d+"/g, '"$1_block":"90000"'))
  nodes.become(async (asked, truth) => {
    if (!asked.path.startsWith('/getBlockByNumber/90000/')) return claim(asked, truth)
    const last = await fetch(`${nodes.well.url}/getBlockByNumber/4851/false`)
    return new Response((await last.text()).replace('"number":"4851"', '"number":"90000"'))
  })
  await nodes.node.watch(async () => OURS, storedAt(BigInt(START) * 1_000_000_000n))
  return nodes
}

test('lastInfo: a far block that a node makes up is only accepted when there was time for it', async () => {
  await using nodes = await makingUp(0)
  for (let looks = 0; looks < 3; looks += 1) {
    expect([nodes.node.lastInfo()?.libBlock, await statusOf(nodes.node.get(PATH))]).toEqual([4851, 200])
    await nodes.look()
  }
  expect(nodes.passed()[0]).toBe(0)
  expect(nodes.events.find(({ node }) => node === nodes.sick.url)).toMatchObject({
    type: 'silent',
    detail: 'it reports block 90000, which is too high for the age of the chain: it has 5851 blocks at most',
  })
  await using later = await makingUp(86_400)
  expect(later.node.lastInfo()?.libBlock).toBe(90_000)
})

test('get: a node far behind gets no request, also when the others fail', async () => {
  await using nodes = await watchedPair({ wellTo: 100 })
  nodes.become(refuses)
  // The failure of the node itself is passed on, because no better answer exists.
  expect(await requestIn(nodes)).toEqual([503, [1, 0]])
  // The failed node is silent now, so the node far behind is the best one.
  await nodes.look()
  expect(await requestIn(nodes)).toEqual([200, [1, 1]])
})

test('get: a node far behind the store gets no request until it has caught up', async () => {
  await using nodes = await pair({ sickTo: 100, wellTo: 4_500 })
  await nodes.node.watch(async () => OURS, storedAt(0n))
  expect(await requestIn(nodes)).toEqual(['unavailable', [0, 0]])
  // Their reported heights are still known.
  expect(nodes.node.lastInfo()?.libBlock).toBe(4_500)
  nodes.well.setHeight(4_551)
  await nodes.look()
  expect(await requestIn(nodes)).toEqual([200, [0, 1]])
})
