import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { encodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { checkBaseTransaction, checkBlock, checkWhole } from '#chain/check.ts'
import { decodeBlock } from '#chain/decode.ts'
import { merkleRoot } from '#chain/hash.ts'
import { headHash } from '#chain/head.ts'
import { decodeRawBlock } from '#chain/raw-block.ts'
import { createNode } from '#node/archive-node.ts'
import { rpcAnswers } from '#test/support/nodes/recording.ts'
import { base58Of32 } from './base58.ts'
import { createChain } from './chain.ts'
import { userTransactions } from './content.ts'
import { type Generated, serveGenerated } from './serve.ts'
import { PROFILES, settingsOf } from './settings.ts'
import { small } from './small.ts'
import { blockTime, writeBlockTime } from './time.ts'

// The limit leaves time for a busy machine, and ends tests that hang.
setDefaultTimeout(600_000)

async function withNode(given: Parameters<typeof serveGenerated>[0], work: (node: Generated) => Promise<void>) {
  const node = serveGenerated(given)
  try {
    await work(node)
  } finally {
    await node.stop()
  }
}

const textOf = async (url: string): Promise<string> => (await fetch(url)).text()

async function blocksOf(url: string, from: number, to: number): Promise<readonly Block[]> {
  const node = createNode({ urls: [url] })
  try {
    const blocks: Block[] = []
    for await (const { block } of node.blocks({ from, to })) blocks.push(block)
    return blocks
  } finally {
    node.close()
  }
}

test('base58Of32: matches the encoding of the chain for 32 bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(32), (drawn, zeros) => {
      const bytes = drawn.map((byte, at) => (at < zeros ? 0 : byte))
      expect(base58Of32(bytes)).toBe(encodeBase58(bytes))
    }),
  )
})

test("writeBlockTime: writes the value of the time's text at any height", () => {
  const bytes = Buffer.alloc(8)
  for (const height of [0, 1, 2, 4851, 99_999_999, 2 ** 32 + 7, 2 ** 33]) {
    writeBlockTime(3, height, bytes, 0)
    expect(String(bytes.readBigInt64BE())).toBe(blockTime(3, height))
  }
})

for (const profile of PROFILES)
  describe(`a ${profile} generated chain`, () => {
    test('every block follows its parent, and is the same in bulk and alone', async () => {
      await withNode(small(profile), async ({ url, chain }) => {
        const to = chain.settings.blocks
        const bulk = await blocksOf(url, 0, to)
        expect(bulk.map(({ height }) => height)).toEqual(Array.from({ length: to + 1 }, (_, at) => at))
        let parent: Block | undefined
        for (const block of bulk) {
          const single = decodeBlock(await textOf(`${url}/getBlockByNumber/${block.height}/true`))
          checkBlock(single, { parentHash: parent?.hash ?? '', height: block.height })
          if (parent !== undefined) checkBaseTransaction(single, parent)
          expect(single).toEqual(block)
          parent = single
        }
      })
    }, 600_000)

    test('bulk answers have all transactions of every block except those without actions', async () => {
      await withNode(small(profile), async ({ url, chain }) => {
        const to = 100
        const from = chain.world.dawn
        const body = JSON.stringify({ from_block: from, to_block: from + to })
        const text = await (await fetch(`${url}/getBlockTxsByContract`, { method: 'POST', body })).text()
        const given = (JSON.parse(text) as { blocktx_list: { tx_list: { actions: unknown[] }[] }[] }).blocktx_list
        const expected = Array.from({ length: to + 1 }, (_, at) => userTransactions(chain.world, from + at))
        expect(given.map(({ tx_list }) => tx_list.length)).toEqual(
          expected.map(users => 1 + users.filter(({ actions }) => actions.length > 0).length),
        )
      })
    })

    test('every transaction has the hash of its raw form and is found by it; an unknown hash is not found', async () => {
      await withNode(small(profile), async ({ url, chain }) => {
        for (const height of [1, 2, 3, chain.world.dawn + 5, chain.settings.blocks]) {
          const text = await textOf(`${url}/getBlockByNumber/${height}/true`)
          const block = decodeBlock(text)
          const rawText = await textOf(`${url}/getRawBlockByNumber/${height}/true`)
          const raw = decodeRawBlock(rawText)
          checkWhole(block, raw)
          expect(headHash(raw.head)).toBe(block.hash)
          const whole = (tx: Block['transactions'][number]) => ({
            ...tx.receipt,
            ramUsage: [...tx.receipt.ramUsage],
          })
          expect(raw.receipts).toEqual(block.transactions.map(whole))
          const short = JSON.parse(await textOf(`${url}/getRawBlockByNumber/${height}/false`)) as {
            block: { txHashes: string[]; receiptHashes: string[] }
          }
          const root = (hashes: readonly string[]) =>
            encodeBase58(merkleRoot(hashes.map(hash => new Uint8Array(Buffer.from(hash, 'base64')))))
          expect([root(short.block.txHashes), root(short.block.receiptHashes)]).toEqual([
            block.txMerkleHash,
            block.txReceiptMerkleHash,
          ])
          for (const { hash, body } of block.transactions) {
            const found = JSON.parse(await textOf(`${url}/getTxByHash/${hash}`)) as object
            expect(found).toMatchObject({
              block_number: String(height),
              transaction: JSON.parse(body) as object,
            })
          }
        }
        expect(await textOf(`${url}/getTxByHash/${'1'.repeat(32)}`)).toBe('{"code":2,"message":"tx not found"}')
        expect(await textOf(`${url}/getTxByHash/nonsense`)).toBe('{"code":2,"message":"tx not found"}')
      })
    }, 600_000)

    test('a delayed transaction is executed by an unsigned one that names it', async () => {
      await withNode(small(profile), async ({ url }) => {
        const [sent, carried] = await Promise.all(
          [1, 2].map(async height => ({
            block: decodeBlock(await textOf(`${url}/getBlockByNumber/${height}/true`)),
            raw: decodeRawBlock(await textOf(`${url}/getRawBlockByNumber/${height}/true`)),
          })),
        )
        const [delayed, later] = [sent?.block.transactions.at(-1), carried?.block.transactions[1]]
        expect([delayed?.delay, delayed?.receipt.receipts]).toEqual([500_000_000n, []])
        expect([later?.referredTx, later?.actions]).toEqual([delayed?.hash ?? '', delayed?.actions ?? []])
        expect(
          [sent?.raw.transactions.at(-1), carried?.raw.transactions[1]].map(tx => tx?.publishSigns.length),
        ).toEqual([1, 0])
      })
    })

    test('the same settings give the same chain, and another seed gives another one', () => {
      const [one, same, other] = [small(profile), small(profile), small(profile, 8)].map(createChain)
      const { dawn, settings } = createChain(small(profile)).world
      for (const height of [settings.blocks, dawn, 0, 1, 300]) {
        expect(same?.block(height)).toEqual(one?.block(height) as never)
        expect(other?.block(height).texts).not.toEqual(one?.block(height).texts as never)
      }
    })

    test('blocks and transactions by hash match those by number', async () => {
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

test('a block far up the chain is the same as if all blocks before were made one by one', () => {
  const settings = { ...small('sparse'), blocks: 40_000 }
  const [far, near] = [createChain(settings), createChain(settings)]
  const wanted = far.block(39_990)
  for (let height = 0; height < 39_990; height += 1) near.block(height)
  expect(near.block(39_990)).toEqual(wanted)
})

/** The names and types of a JSON value's members in order; of lists, only the first entry. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.entries(value).map(([name, member]) => [name, shapeOf(member)])
}

/**
 * A raw block with only its last transaction and receipt. Parts that differ between kinds of transactions are emptied.
 */
function rawShape(text: string): unknown {
  const { status, block } = JSON.parse(text) as {
    status: string
    block: { txs: { signers: unknown[] }[]; receipts: { receipts: unknown[]; ramUsage: unknown }[] }
  }
  const [txs, receipts] = [block.txs.slice(-1), block.receipts.slice(-1)]
  return shapeOf({
    status,
    block: { ...block, txs, receipts: receipts.map(one => ({ ...one, ramUsage: {} })) },
  })
}

test('raw blocks have the format of recorded ones, character by character between their values', async () => {
  const answers = await rpcAnswers()
  await withNode(small('busy'), async ({ url, chain }) => {
    const height = chain.world.dawn + 1
    for (const complete of ['true', 'false']) {
      const recorded = answers.get(`GET /getRawBlockByNumber/1201/${complete}`) ?? ''
      const made = await textOf(`${url}/getRawBlockByNumber/${height}/${complete}`)
      expect(rawShape(made)).toEqual(rawShape(recorded))
      const bones = (text: string): string =>
        text
          .replace(/"(?:[^"\\]|\\.)*"|\d+/g, 'x')
          .replace(/x(?:, x)+/g, 'x, x')
          .slice(0, 300)
      expect(bones(made)).toBe(bones(recorded))
    }
  })
})

test('settingsOf: invalid settings are refused by name', () => {
  expect(() => settingsOf({ holders: 5 })).toThrow('holders 5 is not a whole number of 100 … 10000000.')
  expect(() => settingsOf({ holders: 200, voters: 300 })).toThrow('voters 300 are more than the 200 holders.')
  expect(() => settingsOf({ cycle: 64, producers: 17 })).toThrow('cycle 64 is below 16 blocks for each of 17')
})
