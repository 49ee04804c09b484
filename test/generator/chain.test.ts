import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { checkBaseTransaction, checkBlock } from '#chain/check.ts'
import { decodeBlock } from '#chain/decode.ts'
import { createNode } from '#node/create-node.ts'
import { base58Of32 } from './base58.ts'
import { createChain } from './chain.ts'
import { userTransactions } from './content.ts'
import { type Generated, serveGenerated } from './serve.ts'
import { PROFILES, settingsOf } from './settings.ts'
import { small } from './small.ts'
import { blockTime, writeBlockTime } from './time.ts'
import { placeOfHash, txHash } from './transaction-hash.ts'

const withNode = async (
  given: Parameters<typeof serveGenerated>[0],
  work: (node: Generated) => Promise<void>,
) => {
  const node = serveGenerated(given)
  try {
    await work(node)
  } finally {
    await node.stop()
  }
}

const textOf = async (url: string): Promise<string> => (await fetch(url)).text()

const blocksOf = async (url: string, from: number, to: number): Promise<readonly Block[]> => {
  const node = createNode({ urls: [url] })
  try {
    const blocks: Block[] = []
    for await (const { block } of node.blocks({ from, to })) blocks.push(block)
    return blocks
  } finally {
    node.close()
  }
}

test('base58Of32: as the chain writes 32 bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(32), (drawn, zeros) => {
      const bytes = drawn.map((byte, at) => (at < zeros ? 0 : byte))
      expect(base58Of32(bytes)).toBe(encodeBase58(bytes))
    }),
  )
})

test('placeOfHash: finds every place, and no place for another hash', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 0, max: 2 ** 40 }), fc.nat(60_000), (seed, height, position) => {
      expect(placeOfHash(seed, txHash(seed, height, position))).toEqual({ height, position })
    }),
  )
  expect(placeOfHash(1, txHash(2, 5, 5))).toBeUndefined()
  expect(placeOfHash(1, 'no hash')).toBeUndefined()
})

test('writeBlockTime: the bytes of the text, whatever the height', () => {
  const bytes = Buffer.alloc(8)
  for (const height of [0, 1, 2, 4851, 99_999_999, 2 ** 32 + 7, 2 ** 33]) {
    writeBlockTime(3, height, bytes, 0)
    expect(String(bytes.readBigInt64BE())).toBe(blockTime(3, height))
  }
})

for (const profile of PROFILES)
  describe(`a ${profile} generated chain`, () => {
    test('every block fits its parent, in bulk as one by one', async () => {
      await withNode(small(profile), async ({ url, chain }) => {
        const to = chain.settings.blocks
        const bulk = await blocksOf(url, 0, to)
        expect(bulk.map(({ height }) => height)).toEqual(Array.from({ length: to + 1 }, (_, at) => at))
        let parent: Block | undefined
        for (const block of bulk) {
          const single = decodeBlock(await textOf(`${url}/getBlockByNumber/${block.height}/true`))
          checkBlock(single, parent?.hash ?? '', block.height)
          if (parent !== undefined) checkBaseTransaction(single, parent)
          expect(single).toEqual(block)
          parent = single
        }
      })
    }, 60_000)

    test('bulk answers alone give every block, but those with a transaction without actions', async () => {
      await withNode(small(profile), async ({ url, chain }) => {
        const to = 100
        const from = chain.world.dawn
        const body = JSON.stringify({ from_block: from, to_block: from + to })
        const text = await (await fetch(`${url}/getBlockTxsByContract`, { method: 'POST', body })).text()
        const given = (JSON.parse(text) as { blocktx_list: { tx_list: { actions: unknown[] }[] }[] })
          .blocktx_list
        const expected = Array.from({ length: to + 1 }, (_, at) => userTransactions(chain.world, from + at))
        expect(given.map(({ tx_list }) => tx_list.length)).toEqual(
          expected.map(users => 1 + users.filter(({ actions }) => actions.length > 0).length),
        )
      })
    })

    test('the same settings give the same chain, another seed another one', () => {
      const [one, same, other] = [small(profile), small(profile), small(profile, 8)].map(createChain)
      const { dawn } = one?.world ?? { dawn: 0 }
      for (const height of [700, dawn, 0, 1, 300]) {
        expect(same?.block(height)).toEqual(one?.block(height) as never)
        expect(other?.block(height).texts).not.toEqual(one?.block(height).texts as never)
      }
    })

    test('blocks by hash and transactions by hash are those by number', async () => {
      await withNode(small(profile), async ({ url, chain }) => {
        const height = chain.settings.blocks - 3
        const text = await textOf(`${url}/getBlockByNumber/${height}/true`)
        const block = decodeBlock(text)
        expect(await textOf(`${url}/getBlockByHash/${block.hash}/true`)).toBe(text)
        const found = await textOf(`${url}/getTxByHash/${block.transactions[0]?.hash}`)
        expect(JSON.parse(found)).toMatchObject({
          block_number: String(height),
          transaction: { publisher: 'base.iost', time: String(block.time) },
        })
        expect(await textOf(`${url}/getBlockByNumber/${chain.settings.blocks + 1}/true`)).toBe(
          '{"code":2,"message":"block not found"}',
        )
      })
    })
  })

test('a block far up the chain can be made, and is the one that going there block by block gives', () => {
  const settings = { ...small('sparse'), blocks: 40_000 }
  const [far, near] = [createChain(settings), createChain(settings)]
  const wanted = far.block(39_990)
  for (let height = 0; height < 39_990; height += 1) near.block(height)
  expect(near.block(39_990)).toEqual(wanted)
})

test('settingsOf: what can not be meant is refused by name', () => {
  expect(() => settingsOf({ holders: 5 })).toThrow('holders 5 is not a whole number of 100 … 10000000.')
  expect(() => settingsOf({ holders: 200, voters: 300 })).toThrow('voters 300 are more than the 200 holders.')
  expect(() => settingsOf({ cycle: 64, producers: 17 })).toThrow('cycle 64 is below 16 blocks for each of 17')
})
