import { describe, expect, test } from 'bun:test'
import { readBodies, readRowTexts, TRANSACTIONS } from '#actions/find/record-texts.ts'
import { getTransactionRecords } from '#actions/get-transaction.ts'
import type { Transaction } from '#chain/block.ts'
import { notFoundIfImpossible } from '#explorer/show.tsx'
import type { RecordDoc } from '#indices/record.ts'
import { recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { nodeText } from '#test/support/stores/node-text.ts'

/** Texts that rows do not contain: those of long records, of receipts that fill a block, and the code of contracts. */

const HASH = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'

const blocks = (await recordedBlocks()).map(({ block }) => block)

describe('readRowTexts', async () => {
  const store = await loadedStore()
  /** A row whose texts are stored elsewhere. */
  const row = (height: number, tx: number, index: number, receipt?: number): RecordDoc => ({
    ...{ id: `${height}-${tx}-${index}`, height, tx, index, tx_hash: '', time: 0n, contract: '', action_name: '' },
    ...{ data: '', return: '', status_code: '', from: '', to: '', overflow: true, places: [] },
    ...(receipt === undefined ? {} : { receipt }),
  })
  const textsOf = (rows: readonly RecordDoc[], how?: Parameters<typeof readRowTexts>[2]) =>
    store.read(view => readRowTexts(docs => readBodies(view, docs), rows, how))
  const bytesOf = async (rows: readonly RecordDoc[]): Promise<number> =>
    [...(await textsOf(rows)).values()].reduce((sum, text) => sum + Buffer.byteLength(text.data + text.return), 0)

  test('reads texts of actions and receipts, including those of base transactions', async () => {
    const [tx, base] = [blocks[807]?.transactions[1], blocks[1200]?.transactions[0]]
    const [{ contract = '', actionName: action_name = '', data = '' } = {}] = tx?.actions ?? []
    const [{ funcName = '', content = '' } = {}] = tx?.receipt.receipts ?? []
    const [name = '', method = ''] = funcName.split('/')
    const stat = base?.receipt.receipts[0]?.content ?? ''
    expect(await textsOf([row(807, 1, 0), row(807, 1, 1, 0), row(1200, 0, 0, 0)])).toEqual(
      new Map([
        ['807-1-0', { contract, action_name, data, return: tx?.receipt.returns[0] ?? '' }],
        ['807-1-1', { contract: name, action_name: method, data: content, return: '' }],
        ['1200-0-0', { contract: 'vote_producer.iost', action_name: 'stat', data: stat, return: '' }],
      ]),
    )
  })

  test('texts are never cut; a page over the budget is refused with a size that fits', async () => {
    const rows = blocks
      .filter(({ transactions }) => (transactions[1]?.actions.length ?? 0) > 0)
      .slice(0, 40)
      .map(({ height }) => row(height, 1, 0))
    const total = await bytesOf(rows)
    expect((await textsOf(rows, { budget: total })).size).toBe(40)
    expect(await refusal(textsOf(rows, { budget: total - 1 }))).toEqual({
      kind: 'bad_request',
      en: "Parameter 'size': the long texts of this page exceed 0 MB; request at most 20 rows.",
      zh: "参数 'size'：本页的长文本超过 0 MB；每页请最多请求 20 行。",
    })
  })

  test('transactions over the budget are refused with a number of hashes that fits', async () => {
    // Each transaction has two rows. The fifth row, the first of the third transaction, exceeds the budget.
    const rows = blocks
      .filter(({ transactions }) => (transactions[1]?.receipt.receipts.length ?? 0) > 0)
      .slice(0, 5)
      .flatMap(({ height }) => [row(height, 1, 0), row(height, 1, 1, 0)])
    for (const [fitting, most] of [
      [5, 2],
      [4, 1],
    ] as const) {
      const budget = (await bytesOf(rows.slice(0, fitting))) - 1
      expect(await refusal(textsOf(rows, { asked: TRANSACTIONS, budget }))).toEqual({
        kind: 'bad_request',
        en: `Parameter 'tx_hashes': the long texts of these transactions exceed 0 MB; ask for fewer hashes: at most ${most}.`,
        zh: `参数 'tx_hashes'：这些交易的长文本超过 0 MB；请减少哈希的数量，每次最多 ${most} 个。`,
      })
    }
    // A page turns a failure about an impossible hash into "not found". This failure must stay as it is.
    const failure: unknown = await textsOf(rows, { asked: TRANSACTIONS, budget: 0 }).catch((error: unknown) => error)
    const call = { action: getTransactionRecords, given: { tx_hashes: HASH } }
    const visit = { id: HASH, part: '', query: new URLSearchParams() }
    expect(notFoundIfImpossible(failure, call, visit)).toBe(failure as Error)
  })

  test('a row whose transaction does not exist is a defect, never an empty text', async () => {
    expect((await refusal(textsOf([row(807, 99_000, 0)]))).kind).toBe('defect')
  })
})

/** Runs work on a store that has one transaction above genesis. */
async function storing(made: Transaction, work: (deps: { store: Awaited<ReturnType<typeof loadedStore>> }) => Promise<void>) {
  const { store, destroy } = await temporarySqlite()
  await commitRuns(store, [chainOf([genesis()], [{ ...made, body: nodeText(made) }])], { lib: 1 })
  await work({ store })
  await destroy()
}

test('receipts that fill a block are stored and returned, whatever their text is', async () => {
  // Text without end, whose quotes look like those of a list.
  const content = `[12345678901234567,"${'\\"'.repeat(2_250_000)}`
  const receipts = [receipt('ContractX/a', content), receipt('ContractX/a', 'é'.repeat(2_250_000))]
  const made = transaction({ actions: [action('ContractX/a', [])], receipts })
  await storing(made, async deps => {
    const expected = receipts.map(({ funcName, content: text }) => ({ func_name: funcName, content: text }))
    const said = await ask('get-transaction-detail', { tx_hash: made.hash }, { deps })
    expect(said).toMatchObject({ transaction: { tx_receipt: { receipts: expected } } })
    // The rows are made from the decoded transaction.
    const { records } = await ask('get-transaction-records', { tx_hash: made.hash }, { deps })
    expect(records).toMatchObject([{ contract: 'ContractX', action_name: 'a' }])
  })
})

test('get-contract-code: source, language and version of every contract match the node, its last setter matches the blocks', async () => {
  const last = new Map<string, { readonly block: string; readonly tx_hash: string }>()
  for (const { height, transactions } of blocks)
    for (const { hash, actions, receipt } of transactions.filter(tx => tx.receipt.statusCode === 'SUCCESS'))
      for (const [at, { contract, actionName, data }] of actions.entries()) {
        if (contract !== 'system.iost' || !/^(?:setCode|updateCode|initSetCode|updateNativeCode)$/.test(actionName)) continue
        const [first = ''] = JSON.parse(data) as readonly string[]
        const made = actionName === 'setCode' ? JSON.parse(receipt.returns[at] ?? '[]')[0] : first
        const id = actionName === 'updateCode' ? JSON.parse(first).ID : made
        last.set(id, { block: String(height), tx_hash: hash })
      }
  let [written, updated] = [0, 0]
  for (const [call, text] of await rpcAnswers()) {
    const contract_id = /^GET \/getContract\/([^/]+)\/true$/.exec(call)?.[1]
    if (contract_id === undefined) continue
    const { language, version, orig_code } = JSON.parse(text)
    const said = await ask('get-contract-code', { contract: contract_id })
    const isOfUser = contract_id.startsWith('Contract')
    const none = { code: '', block: '', tx_hash: '' }
    const expected = said.code === '' && !isOfUser ? none : { code: orig_code, ...last.get(contract_id) }
    expect(said).toEqual({ contract_id, language, version, ...expected })
    written += Number(said.code !== '')
    updated += Number(isOfUser && said.tx_hash !== contract_id.slice('Contract'.length))
  }
  expect([written > 5, updated > 0]).toEqual([true, true])
})

test('get-contract-code: the code is found if text follows the arguments of the action that deployed it', async () => {
  const code = JSON.stringify({ info: { lang: 'javascript', version: '1', abi: [] }, code: 'class A {}' })
  const made = transaction({ actions: [action('system.iost/setCode', `${JSON.stringify([code])} // A`)] })
  await storing(made, async deps => {
    const contract = `Contract${made.hash}`
    const said = await ask('get-contract-code', { contract }, { deps })
    expect(said).toMatchObject({ contract_id: contract, code: 'class A {}', tx_hash: made.hash })
  })
})
