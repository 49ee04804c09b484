import { afterAll, describe, expect, test } from 'bun:test'
import { absent, refuseBeyondLoaded } from '#actions/find/loading.ts'
import { createKey } from '#keys/key.ts'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import type { View } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { type Fault, startFaultyNode } from '#test/support/nodes/faulty-node.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'
import { fillFromRecording } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { hashesOf } from '../generator/block.ts'
import { aboveOf, type ForkBlock } from '../head/fork-node.ts'
import { type ForkStand, STORES, withStand } from '../head/stand.ts'
import { serviceOn } from '../support/processes/service.ts'

const MANY = 50

/** The transactions of these blocks without the base transactions. */
const usersOf = (line: readonly ForkBlock[]) => line.flatMap(({ made }) => hashesOf(made).slice(1))

/** A service whose node has in its pool the transactions that another branch had packed. */
async function walletOn(stand: ForkStand) {
  const { base } = stand.forks
  const packed = aboveOf(stand.forks.growLine(base, 40, 2), base.made.height)
  const tip = stand.forks.growLine(base, 1, 100)
  stand.show(tip, base.made.height)
  await stand.probe()
  await stand.follower.poll(new AbortController().signal)
  const [first, second] = ['a', 'b'].map(name =>
    createKey(name, { perSecond: 1_000_000, perDay: 1_000_000 }, { now: 0 }),
  )
  if (first === undefined || second === undefined) throw new Error('There is no key.')
  const service = serviceOn(stand.store, {
    ...{ node: stand.client, head: stand.follower, clock: stand.clock },
    keys: [first.stored, second.stored],
  })
  const asked: string[] = []
  for (const node of [stand.node, stand.other])
    node.meddle = call => {
      asked.push(call)
      return undefined
    }
  const onTip = new Set(usersOf([tip]))
  return {
    tip,
    pending: [...new Set(usersOf(packed))].filter(hash => !onTip.has(hash)),
    keys: [first.key, second.key] as const,
    ask: async (hash: string, key: string) => {
      const response = await service.ask(
        `/api/?module=transaction&action=get-transaction-detail&tx_hash=${hash}&apikey=${key}`,
      )
      const { data } = (await response.json()) as { data?: { status: string } }
      return `${response.status} ${data?.status}`
    },
    calls: () => asked.splice(0).filter(call => call === 'getTxByHash').length,
  }
}

test.each(STORES)(
  'pending transactions requested one by one, all at once: %s: each is answered, equal requests share one call, and another key does not wait for all of them',
  (_name, open) =>
    withStand(open, 29, async stand => {
      const { tip, pending, keys, ask, calls } = await walletOn(stand)
      const hashes = pending.slice(0, MANY)
      expect(hashes.length).toBe(MANY)
      const ended: string[] = []
      const note = async (name: string, answer: Promise<string>): Promise<string> => {
        const said = await answer
        ended.push(name)
        return said
      }
      const own = hashes.map(hash => note('own', ask(hash, keys[0])))
      const other = note('other', ask(pending[MANY] ?? '', keys[1]))
      expect([...(await Promise.all(own)), await other]).toEqual(Array(MANY + 1).fill('200 PENDING'))
      expect(ended.at(-1)).toBe('own')
      expect(calls()).toBe(MANY + 1)
      const same = await Promise.all(hashes.map(() => ask(pending[MANY + 1] ?? '', keys[0])))
      expect([new Set(same), calls()]).toEqual([new Set(['200 PENDING']), 1])
      // Transactions on the followed branch cause no request to a node.
      const packed = await Promise.all(usersOf([tip]).map(hash => ask(hash, keys[0])))
      expect([new Set(packed), calls()]).toEqual([new Set(['200 PACKED']), 0])
    }),
)

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
const UNKNOWN = [
  `transaction&action=get-transaction-detail&tx_hash=${HASH}`,
  `transaction&action=get-transaction-receipt&tx_hash=${HASH}`,
  'block&action=get-block-detail&number=70',
  `block&action=get-block-detail&hash=${HASH}`,
]

/** Grows blocks, which are irreversible at once, and lets both nodes have them. */
function stands(stand: ForkStand, from: ForkBlock, blocks: number): ForkBlock {
  const head = stand.forks.growLine(from, blocks, 1)
  stand.show(head, head.made.height)
  return head
}
const statuses = async (stand: ForkStand): Promise<readonly number[]> =>
  stand.done(
    Promise.all(
      UNKNOWN.map(async query => (await stand.service.ask(`/api/?module=${query}&apikey=${stand.service.key}`)).status),
    ),
  )

test('where every block is irreversible at once: unknown things are not found, even if the node was last seen below the published height', () =>
  withStand(STORES[0][1], 23, async stand => {
    const first = stands(stand, stand.forks.base, 5)
    await stand.load()
    await stand.probe()
    expect(await statuses(stand)).toEqual([404, 404, 404, 404])
    const next = stands(stand, first, 5)
    await stand.load()
    let looks = 0
    for (const node of [stand.node, stand.other])
      node.meddle = call => {
        if (call === 'getChainInfo') looks += 1
        return undefined
      }
    expect(await statuses(stand)).toEqual([404, 404, 404, 404])
    // All queries shared one probe of the node, or the next one.
    expect([1, 2]).toContain(looks)
    // A node that is behind cannot tell whether something exists.
    stands(stand, next, 5)
    await stand.load()
    stands(stand, next, 2)
    expect(await statuses(stand)).toEqual([503, 503, 503, 503])
  }))

type Params = Readonly<Record<string, string>>

/** A block above the published one that has a second transaction. */
const AT = 804
const { block } = (await recordedBlocks())[AT] ?? {}
const tx_hash = block?.transactions[1]?.hash ?? ''

/** A store that has the first hundred blocks. */
const HEIGHT = 100
const { store, destroy } = await temporarySqlite()
await fillFromRecording(store, { to: HEIGHT })

const ends = new AsyncDisposableStack()
ends.defer(destroy)
afterAll(() => ends.disposeAsync())

/** A monitored node with a fault. `to`: the height of its chain. */
async function startNode(fault: Fault = () => undefined, to?: number) {
  const faulty = await startFaultyNode(fault, to)
  const clock = handClock()
  const node = createNode({ urls: [faulty.url], clock })
  ends.use(faulty)
  ends.defer(node.close)
  return { node, clock, faulty }
}
async function watched(fault?: Fault): Promise<Node> {
  const { node } = await startNode(fault)
  await node.watch(() => store.identity())
  return node
}
const honest = await watched()
const asked = (action: string, params: Params = {}, node = honest) => ask(action, params, { deps: { store, node } })

describe('a service that follows a node', () => {
  test("what is not stored yet is answered with the node's object, by number and by hash", async () => {
    for (const [action, params] of [
      ['get-transaction-detail', { tx_hash }],
      ['get-block-detail', { number: String(AT) }],
      ['get-block-detail', { hash: block?.hash ?? '' }],
      ['get-block-tx', { number: String(AT) }],
    ] as const)
      expect(await asked(action, params)).toEqual(await ask(action, params))
  })

  test.each([
    ['get-account-tx', { account: 'admin' }],
    ['get-contract-tx', { contract: 'token.iost' }],
    ['get-subaccount-list', { account: 'admin' }],
  ] as const)('%s: a range beyond the loaded height is loading', async (action, params) => {
    const { total } = await asked(action, { ...params, end_block: '100' })
    for (const range of [{ start_block: '101' }, { end_seq: `${Number(total) + 1}` }])
      expect(await refusal(asked(action, { ...params, ...range }))).toMatchObject({ kind: 'loading' })
  })

  test('get-latest-block, get-overview: the head of the chain is reported beside the published height', async () => {
    expect((await asked('get-latest-block')).block.number).toBe(4851)
    expect(await asked('get-overview')).toMatchObject({ head_block: '4851', lib_block: HEIGHT })
  })

  test('unknown names, blocks and transactions are reported as not loaded yet', async () => {
    expect(await refusal(asked('get-account-detail', { account: 'busyhub' }))).toEqual({
      kind: 'loading',
      en: "Account 'busyhub' is not available yet: loaded up to block 100 of 4851.",
      zh: "账户 'busyhub' 暂不可用：目前已加载到区块 100，最新的不可逆区块为 4851。",
    })
    expect((await refusal(asked('get-block-detail', { number: '4852' }))).kind).toBe('loading')
    expect((await refusal(asked('get-transaction-action', { tx_hash: HASH }))).kind).toBe('loading')
  })
})

describe('a transaction above the published height, when the node alters some answers', () => {
  const changing =
    (call: RegExp, from: RegExp | string, to: string): Fault =>
    async ({ path }, truth) =>
      call.test(path) ? new Response((await truth()).replace(from, to)) : undefined
  const byHash = /^\/getTxByHash\//
  const inBlock = new RegExp(`^/getBlockBy(?:Number/${AT}|Hash/${block?.hash})/true`)
  const packed = changing(inBlock, '"IRREVERSIBLE"', '"PENDING"')
  const beside = async (fault: Fault) => asked('get-transaction-detail', { tx_hash }, await watched(fault))

  test("it is answered as its block proves it, even if the node's answer by hash differs", async () => {
    const forged = changing(byHash, /"message": ?"[^"]*"/, '"message":"forged"')
    expect(await beside(forged)).toEqual(await asked('get-transaction-detail', { tx_hash }))
  })

  test('it is PACKED, without a number, in a block that is not irreversible', async () => {
    expect(await beside(packed)).toMatchObject({ status: 'PACKED', block_number: '-1' })
  })

  test('search: a match reports whether it is irreversible', async () => {
    for (const [node, status] of [
      [honest, 'IRREVERSIBLE'],
      [await watched(packed), 'PACKED'],
    ] as const)
      for (const [type, text] of [
        ['block', String(AT)],
        ['block', block?.hash ?? ''],
        ['transaction', tx_hash],
      ] as const) {
        const matches: readonly { readonly exact: boolean }[] = (await asked('search', { text }, node)).matches
        expect(matches.filter(({ exact }) => exact)).toMatchObject([{ type, status }])
      }
  })

  test.each([
    ['another block is named', changing(byHash, `"${AT}"`, `"${AT + 1}"`)],
    ['the block is not one', changing(inBlock, /"gas_usage": ?\d+/g, '"gas_usage":7')],
    ['a text of it was forged', changing(inBlock, /"gas_limit": ?\d+/g, '"gas_limit":7')],
  ] as const)('it is refused when %s', async (_, fault) => {
    expect((await refusal(beside(fault))).kind).toBe('bad_block')
  })
})

const ABSENT: readonly (readonly [action: string, params: Params])[] = [
  ['get-transaction-detail', { tx_hash: HASH }],
  ['get-transaction-action', { tx_hash: HASH }],
  ['get-transaction-receipt', { tx_hash: HASH }],
  ['get-block-detail', { number: '4860' }],
  ['get-block-detail', { hash: HASH }],
  ['get-block-tx', { number: '4860' }],
  ['get-block-tx', { hash: HASH }],
]

async function kindsOf(node: Node) {
  const kinds = new Set<string>()
  for (const [action, params] of ABSENT)
    for (const compat of ['none', 'iostabc'] as const)
      kinds.add((await refusal(askText(action, params, { deps: { node }, compat }))).kind)
  return [...kinds]
}

describe('a transaction or block that is not stored', () => {
  test('is not found when the asked node is as high as the store', async () => {
    const node = await watched()
    expect((await refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))).kind).toBe('not_found')
  })
  test('is unavailable while the node is gone', async () => {
    const node = createNode({ urls: ['http://127.0.0.1:1'] })
    await node.watch(async () => undefined)
    expect(await kindsOf(node)).toEqual(['unavailable'])
    node.close()
  })
  test.each([
    ['behind the store', undefined, 4_000],
    ['of another chain', { chainId: 1020, genesis: HASH }, undefined],
  ] as const)('is unavailable when the node is %s', async (_, identity, to) => {
    const { node } = await startNode(undefined, to)
    await node.watch(async () => identity)
    expect(await kindsOf(node)).toEqual(['unavailable'])
  })
  test('is unavailable while the node hangs, and no request waits for a node that is known to hang', async () => {
    let hanging = false
    const { node, clock, faulty } = await startNode(() => (hanging ? new Promise<never>(() => undefined) : undefined))
    await node.watch(async () => undefined)
    hanging = true
    // A request sent before the node is known to hang gives up after two seconds of its ten.
    const before = refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))
    await clock.awaited(2_000)
    await clock.pass(1_000)
    // The probe that begins now has a limit of one and a half seconds.
    await clock.awaited(1_500)
    await clock.pass(1_000)
    expect((await before).kind).toBe('unavailable')
    await clock.pass(500)
    // The probe has failed, and the next one is scheduled.
    await clock.awaited(1_000)
    expect(node.lastInfo()).toBeUndefined()
    const requests = faulty.asked.length
    expect(await kindsOf(node)).toEqual(['unavailable'])
    expect((await ask('get-latest-block', {}, { deps: { node } })).block.number).toBe(4851)
    expect((await ask('get-overview', {}, { deps: { node } })).head_block).toBe('4851')
    const absent = ask('get-account-detail', { account: 'nosuchname' }, { deps: { node } })
    expect((await refusal(absent)).kind).toBe('not_found')
    // These answers needed no clock step and no request to the node.
    expect(faulty.asked.length).toBe(requests)
  })
})

const viewAt = (height: number, lib: number) => ({ at: { height, hash: '', time: 50n, lib } }) as View
const nodeAt = (lib?: number) => (lib === undefined ? undefined : spokenNode({}, { libBlock: lib }))

test.each([
  // Up to a thousand blocks behind it is not found. The larger last irreversible block of store and node counts.
  [5000, 6000, undefined, undefined],
  [5000, 6001, undefined, 6001],
  [0, 0, undefined, undefined],
  [5000, 5000, 9000, 9000],
  [5000, 9000, 5000, 9000],
] as const)('createAbsentFailure: at %d, with %p in the store and %p at the node', (height, lib, ofNode, loading) => {
  const { kind, message } = absent({ view: viewAt(height, lib), node: nodeAt(ofNode) }, { en: "Account 'x'", zh: '' })
  expect([kind, message]).toEqual(
    loading === undefined
      ? ['not_found', `Account 'x' does not exist at block ${height}.`]
      : ['loading', `Account 'x' is not available yet: loaded up to block ${height} of ${loading}.`],
  )
})

type Range = Parameters<typeof refuseBeyondLoaded>[1]
const TIME = '1970-01-01T00:00:00.000000051Z'

test.each<readonly [Range, string | undefined, number?, number?]>([
  [{ start_block: 5001n }, "'start_block' 5001"],
  [{ start_block: 1n, end_block: 5001n }, "'end_block' 5001"],
  [{ start_time: 51n }, `'start_time' ${TIME}`],
  [{ start_time: 1n, end_time: 51n }, `'end_time' ${TIME}`, 5000, 6001],
  [{ end_seq: 21n }, "'end_seq' 21"],
  [{ start_seq: 22n }, "'start_seq' 22"],
  [{}, undefined],
  [{ start_block: 5000n, end_block: 5000n, start_time: 50n, end_time: 50n }, undefined],
  [{ start_seq: 20n, end_seq: 20n }, undefined],
  // A start right after the last row is how clients follow a list.
  [{ start_seq: 21n }, undefined],
  // The load is not far behind.
  [{ start_block: 5001n, end_time: 51n, end_seq: 21n }, undefined, 6000],
  [{ start_block: 5001n }, undefined, 5000, 6000],
])(
  'refuseBeyondLoaded: with 5000 blocks and 20 rows %p is refused for %p',
  (range, what, lib = 6001, ofNode = undefined) => {
    const refuse = () => refuseBeyondLoaded({ view: viewAt(5000, lib), node: nodeAt(ofNode) }, range, 20)
    if (what === undefined) refuse()
    else expect(refuse).toThrow(`The data for ${what} is not available yet: loaded up to block 5000 of 6001.`)
  },
)
