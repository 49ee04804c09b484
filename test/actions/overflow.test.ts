import { describe, expect, test } from 'bun:test'
import { readBodies, readRowTexts, TRANSACTIONS } from '#actions/find/record-texts.ts'
import { getTransactionRecords } from '#actions/get-transaction.ts'
import { notFoundIfImpossible } from '#explorer/show.tsx'
import type { RecordDoc } from '#indices/record.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const HASH = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'

const store = await loadedStore()

/**
 * Rows whose texts are stored elsewhere: actions of block 807, one of its receipts, and a receipt of a base
 * transaction.
 */
const row = (height: number, tx: number, index: number, receipt?: number): RecordDoc => ({
  id: `${height}-${tx}-${index}`,
  height,
  tx,
  index,
  tx_hash: '',
  time: 0n,
  contract: '',
  action_name: '',
  data: '',
  return: '',
  status_code: '',
  from: '',
  to: '',
  ...(receipt === undefined ? {} : { receipt }),
  overflow: true,
  places: [],
})

describe('readRowTexts', () => {
  test('textsOf: reads texts of actions and receipts, including those of base transactions', async () => {
    const blocks = await recordedBlocks()
    const tx = blocks[807]?.block.transactions[1]
    const base = blocks[1200]?.block.transactions[0]
    const texts = await store.read(view =>
      readRowTexts(docs => readBodies(view, docs), [row(807, 1, 0), row(807, 1, 1, 0), row(1200, 0, 0, 0)]),
    )
    const [funcName = '', content = ''] = [tx?.receipt.receipts[0]?.funcName, tx?.receipt.receipts[0]?.content]
    expect(texts).toEqual(
      new Map([
        [
          '807-1-0',
          {
            contract: tx?.actions[0]?.contract ?? '',
            action_name: tx?.actions[0]?.actionName ?? '',
            data: tx?.actions[0]?.data ?? '',
            return: tx?.receipt.returns[0] ?? '',
          },
        ],
        [
          '807-1-1',
          {
            contract: funcName.split('/')[0] ?? '',
            action_name: funcName.split('/')[1] ?? '',
            data: content,
            return: '',
          },
        ],
        [
          '1200-0-0',
          {
            contract: 'vote_producer.iost',
            action_name: 'stat',
            data: base?.receipt.receipts[0]?.content ?? '',
            return: '',
          },
        ],
      ]),
    )
  })
  test('textsOf: texts are never cut; a page over the budget is refused with a size that fits', async () => {
    const rows = (await recordedBlocks())
      .filter(({ block }) => (block.transactions[1]?.actions.length ?? 0) > 0)
      .slice(0, 40)
      .map(({ block }) => row(block.height, 1, 0))
    const all = await store.read(view => readRowTexts(docs => readBodies(view, docs), rows))
    expect(all.size).toBe(40)
    const bytes = [...all.values()].map(text => Buffer.byteLength(text.data) + Buffer.byteLength(text.return))
    const total = bytes.reduce((sum, more) => sum + more, 0)
    expect((await store.read(view => readRowTexts(docs => readBodies(view, docs), rows, { budget: total }))).size).toBe(
      40,
    )
    expect(
      await refusal(store.read(view => readRowTexts(docs => readBodies(view, docs), rows, { budget: total - 1 }))),
    ).toEqual({
      kind: 'bad_request',
      en: "Parameter 'size': the long texts of this page exceed 0 MB; request at most 20 rows.",
      zh: "参数 'size'：本页的长文本超过 0 MB；每页请最多请求 20 行。",
    })
  })
  test('textsOf: transactions over the budget are refused with a number of hashes that fits', async () => {
    // Each transaction has two rows. The fifth row, the first of the third transaction, exceeds the budget.
    const rows = (await recordedBlocks())
      .filter(({ block }) => (block.transactions[1]?.receipt.receipts.length ?? 0) > 0)
      .slice(0, 5)
      .flatMap(({ block }) => [row(block.height, 1, 0), row(block.height, 1, 1, 0)])
    const textsWithin = (count: number, budget?: number) =>
      store.read(view =>
        readRowTexts(docs => readBodies(view, docs), rows.slice(0, count), {
          asked: TRANSACTIONS,
          ...(budget === undefined ? {} : { budget }),
        }),
      )
    const bytesOf = async (count: number) =>
      [...(await textsWithin(count)).values()].reduce(
        (sum, text) => sum + Buffer.byteLength(text.data + text.return),
        0,
      )
    const refused = (most: number) => ({
      kind: 'bad_request' as const,
      en: `Parameter 'tx_hashes': the long texts of these transactions exceed 0 MB; ask for fewer hashes: at most ${most}.`,
      zh: `参数 'tx_hashes'：这些交易的长文本超过 0 MB；请减少哈希的数量，每次最多 ${most} 个。`,
    })
    expect(rows.length).toBe(10)
    expect(await refusal(textsWithin(10, (await bytesOf(5)) - 1))).toEqual(refused(2))
    expect(await refusal(textsWithin(10, (await bytesOf(4)) - 1))).toEqual(refused(1))
    // A page turns a failure about an impossible hash into "not found". This failure must stay as it is.
    const failure: unknown = await textsWithin(10, 0).catch((error: unknown) => error)
    const action = getTransactionRecords
    const visit = { id: HASH, part: '', query: new URLSearchParams() }
    expect(notFoundIfImpossible(failure, { action, given: { tx_hashes: HASH } }, visit)).toBe(failure)
  })
  test('textsOf: a row whose transaction does not exist is a defect, never an empty text', async () => {
    expect(
      await refusal(store.read(view => readRowTexts(docs => readBodies(view, docs), [row(807, 99_000, 0)]))),
    ).toEqual({
      kind: 'defect',
      en: 'The texts of record 807-99000-0 are missing in its transaction.',
      zh: undefined,
    })
  })
})
