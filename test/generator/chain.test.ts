import { expect, setDefaultTimeout, test } from 'bun:test'
import { encodeBase58 } from '#chain/base58.ts'
import { decodeBlock } from '#chain/decode.ts'
import { merkleRoot } from '#chain/hash.ts'
import { rpcAnswers } from '#test/support/nodes/recording.ts'
import { createChain } from './chain.ts'
import { KINDS } from './cycle-plan.ts'
import { readOptions } from './main.ts'
import { serveGenerated } from './serve.ts'
import { DEFAULTS, settingsOf } from './settings.ts'
import { small } from './small.ts'
import { truthAt } from './truth.ts'
import { worldOf } from './world.ts'

// `in-stores.test.ts` loads whole chains: that proves every block, and compares what is stored with the truth.
setDefaultTimeout(600_000)

function serve(given: Parameters<typeof serveGenerated>[0]) {
  const node = serveGenerated(given)
  const ask = async (path: string, body?: string): Promise<string> =>
    (await fetch(`${node.url}${path}`, body === undefined ? {} : { method: 'POST', body })).text()
  return { ...node, ask, [Symbol.asyncDispose]: () => node.stop() }
}

test('blocks and transactions are found by their hashes, which raw blocks have in the order of their roots', async () => {
  await using node = serve(small('mixed'))
  for (const height of [1, 2, node.chain.world.dawn + 5, node.chain.settings.blocks]) {
    const text = await node.ask(`/getBlockByNumber/${height}/true`)
    const block = decodeBlock(text)
    const raw = JSON.parse(await node.ask(`/getRawBlockByNumber/${height}/false`)).block
    const roots = [raw.txHashes, raw.receiptHashes].map((hashes: readonly string[]) =>
      encodeBase58(merkleRoot(hashes.map(hash => new Uint8Array(Buffer.from(hash, 'base64'))))),
    )
    expect(roots).toEqual([block.txMerkleHash, block.txReceiptMerkleHash])
    expect(await node.ask(`/getBlockByHash/${block.hash}/true`)).toBe(text)
    for (const { hash, body } of block.transactions)
      expect(JSON.parse(await node.ask(`/getTxByHash/${hash}`))).toMatchObject({
        block_number: String(height),
        transaction: JSON.parse(body),
      })
  }
  for (const hash of ['1'.repeat(32), 'nonsense'])
    expect(await node.ask(`/getTxByHash/${hash}`)).toBe('{"code":2,"message":"tx not found"}')
})

test('the same settings give the same chain, in any order of requests; another seed gives another one', () => {
  const [far, near, other] = [small('sparse'), small('sparse'), small('sparse', 8)].map(createChain)
  const last = 2_490
  const wanted = far?.block(last)
  for (let height = 0; height < last; height += 1) near?.block(height)
  expect(near?.block(last)).toEqual(wanted as never)
  expect(far?.block(1)).toEqual(near?.block(1) as never)
  expect(other?.block(last).texts).not.toEqual(wanted?.texts as never)
})

test('a mixed cycle has every kind of transaction; many holders have equal balances', () => {
  const world = worldOf(small('mixed'))
  const kinds = new Set(Array.from({ length: world.schedule.count / 2 }, (_, j) => world.plan.read(j).kind))
  expect([...kinds].sort()).toEqual([...KINDS].sort())
  const sizes = Map.groupBy(truthAt(world, world.dawn).holders('coin'), ([, units]) => units)
  expect(Math.max(...[...sizes.values()].map(({ length }) => length))).toBeGreaterThan(15)
})

/** The names and types of a JSON value's members in order; of lists, only the last entry. */
function describeShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(-1).map(describeShape)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.entries(value).map(([name, member]) => [name, name === 'ramUsage' ? '' : describeShape(member)])
}

test('raw blocks have the format of recorded ones, character by character between their values', async () => {
  const answers = await rpcAnswers()
  await using node = serve(small('busy'))
  const reduceText = (text: string): string =>
    text
      .replace(/"(?:[^"\\]|\\.)*"|\d+/g, 'x')
      .replace(/x(?:, x)+/g, 'x, x')
      .slice(0, 300)
  for (const complete of ['true', 'false']) {
    const recorded = answers.get(`GET /getRawBlockByNumber/1201/${complete}`) ?? ''
    const made = await node.ask(`/getRawBlockByNumber/${node.chain.world.dawn + 1}/${complete}`)
    expect(describeShape({ ...JSON.parse(made).block })).toEqual(describeShape({ ...JSON.parse(recorded).block }))
    expect(reduceText(made)).toBe(reduceText(recorded))
  }
})

test('readOptions: numbers, profile and address are read', () => {
  expect(readOptions(['--help'])).toBeUndefined()
  expect(readOptions([])).toEqual({ profile: DEFAULTS.profile, host: '127.0.0.1', port: 0 })
  const words = ['--seed', '9', '--blocks', '300000000', '--profile', 'busy', '--listen', 'localhost:81']
  expect(readOptions(words)).toEqual({ seed: 9, blocks: 300_000_000, profile: 'busy', host: 'localhost', port: 81 })
})

test.each<readonly [() => unknown, string]>([
  [() => readOptions(['--seed', '1e3']), '--seed 1e3 is not a whole number.'],
  [() => readOptions(['--profile', 'huge']), '--profile huge is none of sparse, busy, mixed.'],
  [() => settingsOf({ holders: 5 }), 'holders 5 is not a whole number of 100 … 10000000.'],
  [() => settingsOf({ holders: 200, voters: 300 }), 'voters 300 are more than the 200 holders.'],
  [() => settingsOf({ cycle: 64, producers: 17 }), 'cycle 64 is below 16 blocks for each of 17'],
])('options: %p is refused by name', (read, message) => {
  expect(read).toThrow(message)
})
