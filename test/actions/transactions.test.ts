import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readBodies, readRowTexts, TRANSACTIONS } from '#actions/find/record-texts.ts'
import { getTransactionRecords } from '#actions/get-transaction.ts'
import type { Transaction } from '#chain/block.ts'
import { toVisitorFailure } from '#explorer/show.tsx'
import { recordId } from '#indices/list.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import type { Store } from '#store/port.ts'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { found, notFound, spokenNode } from '#test/support/nodes/spoken-node.ts'
import { type PlainRow, plainRecording, shownPlainRow } from '#test/support/oracle/plain-records.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { type Damageable, damageableSqlite } from '#test/support/stores/damage.ts'
import { action, chainOf, genesis, type Made, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { nodeText } from '#test/support/stores/node-text.ts'

/** A valid hash of 32 bytes that no recorded transaction has. */
const NOWHERE = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
const PATH = `/getTxByHash/${NOWHERE}`
/** The hash of a recorded transaction. */
const OTHER = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'
const AT_ONCE = 50

type Row = { readonly tx_hash: string; readonly index: number; readonly amount?: string }

const blocks = (await recordedBlocks()).map(({ block }) => block)
const hashes = blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash))
const detail = (tx_hash: string) => askText('get-transaction-detail', { tx_hash })

const fifties = (all: readonly string[]): readonly string[] =>
  Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, at) =>
    all.slice(at * AT_ONCE, (at + 1) * AT_ONCE).join(','),
  )

describe('recorded transactions', () => {
  test("get-transaction-detail: some are the node's objects, character by character, among them base transactions and genesis", async () => {
    for (const height of [0, 1, 803, 804, 807, 1060, 1200, 2021, 2400, 4800, 4851])
      for (const { hash, body } of blocks[height]?.transactions ?? []) {
        // The interface has delay and expiration as numbers.
        const shown = body.replace(/"(expiration|delay)":"(\d+)"/g, '"$1":$2')
        const expected = `{"status":"IRREVERSIBLE","transaction":${shown},"block_number":"${height}"}`
        expect(await detail(hash)).toBe(expected)
      }
  })

  test('get-transaction-action, get-transaction-receipt: all of every transaction of some blocks', async () => {
    let most = 0
    for (const height of [0, 803, 804, 807, 1060, 1200, 2021])
      for (const tx of blocks[height]?.transactions ?? []) {
        const asked = { tx_hash: tx.hash }
        const actions = tx.actions.map(({ actionName: action_name, ...row }) => ({ ...row, action_name }))
        const receipts = tx.receipt.receipts.map(({ funcName: func_name, content }) => ({ func_name, content }))
        const page = (rows: readonly unknown[]) => ({ page: 1, size: rows.length, total: rows.length })
        expect(await ask('get-transaction-action', asked)).toEqual({ actions, ...page(actions) })
        expect(await ask('get-transaction-receipt', asked)).toEqual({ receipts, ...page(receipts) })
        most = Math.max(most, receipts.length)
      }
    expect(most).toBe(100)
  })

  test('get-transactions: accepts base transactions, genesis and duplicates, and returns null for unknown hashes', async () => {
    const [base = '', other = ''] = [blocks[1200]?.transactions[0]?.hash, blocks[4824]?.transactions[1]?.hash]
    const [genesis = ''] = hashes
    const asked = [base, NOWHERE, other, genesis, base, NOWHERE]
    const expected = await Promise.all(asked.map(hash => (hash === NOWHERE ? 'null' : detail(hash))))
    const said = await askText('get-transactions', { tx_hashes: asked.join(',') })
    expect(said).toBe(`{"transactions":[${expected.join(',')}]}`)
  })
})

/** An object of the node for a transaction that the store does not have. */
const onNode = (status: string, receipt: string): string =>
  `{"status":"${status}", "transaction":{"hash":"${NOWHERE}", "time":"1795247868355000000", "expiration":"1795247948355000000", "gas_ratio":1.01, "gas_limit":300000, "delay":"0", "chain_id":1020, "actions":[{"contract":"token.iost", "action_name":"transfer", "data":"[\\"iost\\", \\"a\\"]"}], "signers":[], "publisher":"whale_01", "referred_tx":"", "amount_limit":[], "tx_receipt":${receipt}}, "block_number":"-1"}`
const RECEIPT = `{"tx_hash":"${NOWHERE}","gas_usage":9119.29,"ram_usage":{},"status_code":"SUCCESS","message":"","returns":[],"receipts":[]}`
const PENDING = onNode('PENDING', 'null')
const PACKED = onNode('PACKED', RECEIPT)

describe('a transaction that is not stored', () => {
  const asked = { tx_hash: NOWHERE }
  const nodeOf = (...said: readonly ReturnType<typeof found>[]) => spokenNode({ [PATH]: said })
  const over = (action: string, ...said: readonly ReturnType<typeof found>[]) =>
    ask(action, asked, { deps: { node: nodeOf(...said), clock: idleClock() } })

  test('get-transaction-detail: in the pool it is PENDING without a receipt, and has no receipts and no records', async () => {
    const node = nodeOf(found(PENDING))
    const shown = PENDING.replaceAll(', "', ',"').replace('"tx_receipt":null', '"tx_receipt":{}')
    expect(await askText('get-transaction-detail', asked, { deps: { node } })).toBe(
      shown.replace(/"(expiration|delay)":"(\d+)"/g, '"$1":$2').replace('["iost",', '["iost", '),
    )
    const none = { page: 1, size: 0, total: 0 }
    expect(await over('get-transaction-receipt', found(PENDING))).toEqual({ receipts: [], ...none })
    expect(await over('get-transaction-records', found(PENDING))).toEqual({ records: [], ...none })
  })

  test("get-transaction-detail: the node's PACKED status is returned, also when only the second request finds the transaction", async () => {
    const [node, clock] = [nodeOf(notFound('tx'), found(PACKED)), idleClock()]
    const said = await ask('get-transaction-detail', asked, { deps: { node, clock } })
    expect([said.status, said.transaction.tx_receipt.gas_usage]).toEqual(['PACKED', '9119.29'])
    expect([node.asked, clock.slept]).toEqual([[PATH, PATH], [50]])
  })

  test('a hash unknown to store and node is not found after two requests, and not loaded yet while the load is far behind', async () => {
    const node = nodeOf(notFound('tx'))
    expect(await refusal(ask('get-transaction-detail', asked, { deps: { node } }))).toEqual({
      kind: 'not_found',
      en: `Transaction '${NOWHERE}' does not exist at block 4851.`,
      zh: `交易 '${NOWHERE}' 不存在（截至区块 4851）。`,
    })
    expect(node.asked).toEqual([PATH, PATH])
    expect(await askText('get-transaction-detail', asked, { compat: 'iostabc' })).toBe('{}')
    const ahead = { node: spokenNode({ [PATH]: [notFound('tx')] }, { libBlock: 90_000 }), clock: idleClock() }
    for (const [action, name] of Object.entries({
      'get-transaction-detail': 'tx_hash',
      'get-transactions': 'tx_hashes',
    }))
      expect(await refusal(ask(action, { [name]: NOWHERE }, { deps: ahead }))).toEqual({
        kind: 'loading',
        en: `Transaction '${NOWHERE}' is not available yet: loaded up to block 4851 of 90000.`,
        zh: `交易 '${NOWHERE}' 暂不可用：目前已加载到区块 4851，最新的不可逆区块为 90000。`,
      })
  })

  test('get-transaction-detail: an invalid answer of the node is refused, not reported as not found', async () => {
    for (const [text, says] of [
      ['{"status":"PENDING"', /./],
      ['[]', /./],
      ['{"status":1,"transaction":{}}', /./],
      ['{}', /./],
      [PENDING.replace(NOWHERE, OTHER), /hash: "8Q1w\w+" is not the requested transaction/],
      [PENDING.replace('"PENDING"', '"FINAL"'), /status: "FINAL" is not a transaction status/],
      [PACKED.replace('"PACKED"', '"IRREVERSIBLE"'), /block_number: "-1" is not above block 4851/],
      [PACKED.replace('"-1"', '"4851"'), /block_number: "4851" is not above block 4851/],
      [PACKED.replace('"-1"', '"900000000000"'), /"900000000000" is not a block for which there has been time/],
      [PENDING.replace('"-1"', '"4852"'), /block_number: "4852" is not -1/],
      [PENDING.replace('"PENDING"', '"PACKED"'), /tx_receipt: "null" is not what a transaction that is PACKED has/],
      [PACKED.replace('"PACKED"', '"PENDING"'), /tx_receipt: "a receipt" is not what a transaction that is PEND/],
    ] as const) {
      const { kind, en } = await refusal(ask('get-transaction-detail', asked, { deps: { node: nodeOf(found(text)) } }))
      expect([text, kind, en]).toEqual([text, 'bad_block', expect.stringMatching(says)])
    }
  })

  test('get-transactions: it is read from the node beside stored ones, and unavailable when no node answers', async () => {
    const tx_hashes = `${OTHER},${NOWHERE}`
    const both = (said: ReturnType<typeof found>) =>
      ask('get-transactions', { tx_hashes }, { deps: { node: nodeOf(said), clock: idleClock() } })
    const { transactions } = await both(found(PENDING))
    expect(transactions.map(({ status }: { status: string }) => status)).toEqual(['IRREVERSIBLE', 'PENDING'])
    expect((await both(notFound('tx'))).transactions[1]).toBe(null)
    expect((await refusal(both({ status: 500, text: '' }))).kind).toBe('unavailable')
  })

  test('get-transaction-records: records of a block that only the node has are unavailable, not missing', async () => {
    expect(await refusal(over('get-transaction-records', found(PACKED)))).toEqual({
      kind: 'unavailable',
      en: 'The records of a transaction are known as soon as its block is published; block 4851 is the last published one.',
      zh: '交易的记录在其区块发布后即可查询；最新已发布的区块为 4851。',
    })
    const node = spokenNode({ [PATH]: [found(PACKED)] }, { libBlock: 9_000 })
    expect((await refusal(ask('get-transaction-records', asked, { deps: { node } }))).kind).toBe('loading')
    expect((await refusal(over('get-transaction-records', notFound('tx')))).kind).toBe('not_found')
  })
})

/** Every so many groups of fifty are compared; all of them in a long run. */
const EVERY = SOAK ? 1 : 20

describe('get-transaction-records', () => {
  test('the rows of transactions match the blocks', async () => {
    const plain = new Map<string, PlainRow[]>()
    for (const row of (await plainRecording()).rows) plain.set(row.hash, [...(plain.get(row.hash) ?? []), row])
    let amounts = 0
    for (const tx_hashes of fifties(hashes).filter((_group, at) => at % EVERY === 0)) {
      const own = tx_hashes.split(',').flatMap(hash => plain.get(hash) ?? [])
      const said = await ask('get-transaction-records', { tx_hashes }, { compat: 'iostabc' })
      const expected = own.map(row => {
        const amount = row.contract === 'token.iost' ? row.facts.amount : undefined
        return { status: 'IRREVERSIBLE', ...shownPlainRow(row), ...(amount === undefined ? {} : { amount }) }
      })
      expect([said.records, said.total]).toEqual([expected, expected.length])
      amounts += expected.filter(row => 'amount' in row).length
    }
    expect(amounts).toBeGreaterThan(300)
  })

  test('transactions are answered in the requested order, each once; one unknown hash refuses the whole request', async () => {
    const [one = '', other = ''] = [blocks[807], blocks[804]].map(block => block?.transactions[1]?.hash ?? '')
    const of = async (tx_hashes: string) => (await ask('get-transaction-records', { tx_hashes })).records
    expect(await of(`${one},${other},${one}`)).toEqual([...(await of(one)), ...(await of(other))])
    expect((await ask('get-transaction-records', { tx_hash: other })).records).toEqual(await of(other))
    expect((await refusal(of(`${one},${NOWHERE}`))).kind).toBe('not_found')
    // The old service knew no lists of hashes; an unknown one hides no row of the others.
    const inCompat = (params: Readonly<Record<string, string>>) =>
      askText('get-transaction-records', params, { compat: 'iostabc' })
    expect(await inCompat({ tx_hash: NOWHERE })).toBe('{"records":[],"page":1,"size":0,"total":0}')
    expect(await inCompat({ tx_hashes: `${NOWHERE},${one}` })).toBe(await inCompat({ tx_hash: one }))
  })
})

function withBody(made: Made): Transaction {
  const tx = transaction(made)
  return { ...tx, body: nodeText(tx) }
}

describe('get-transaction-records of hand-made transactions', () => {
  const signUp = ['auth.iost/signUp', ['dave000', 'owner', 'active']] as const
  const moves = ['1', '2'].map(amount => receipt('token.iost/transfer', ['iost', 'alice00', 'bob0000', amount, '']))
  // The first failed with a receipt, as they occur before block 38,500,000.
  const [failed, moving, still] = [
    { actions: [action(...signUp)], receipts: [receipt(...signUp)], receipt: { statusCode: 'RUNTIME_ERROR' as const } },
    { actions: [action('Contractpays/pay', [])], receipts: moves },
    { actions: [action('Contractpays/look', [])] },
  ].map(withBody) as [Transaction, Transaction, Transaction]
  let damaged: Damageable
  beforeAll(async () => {
    damaged = await damageableSqlite()
    await commitRuns(damaged.store, [chainOf([genesis()], [failed, moving, still])], { lib: 1 })
  })
  afterAll(() => damaged.destroy())
  const over = async (...transactions: readonly Transaction[]) => {
    const tx_hashes = transactions.map(({ hash }) => hash).join(',')
    const { records: rows } = await ask('get-transaction-records', { tx_hashes }, { deps: { store: damaged.store } })
    return rows.map(({ tx_hash, index, amount }: Row) => [tx_hash, index, amount])
  }
  const rowsOfMoving = [undefined, '1', '2'].map((amount, index) => [moving.hash, index, amount])

  test('a failed sign-up takes no row of later transactions', async () => {
    const all = [[failed.hash, 0, undefined], ...rowsOfMoving]
    expect(await over(failed, moving)).toEqual(all)
    // The result is the same if the store claims that the failed sign-up created an account.
    await damaged.change(records, recordId(1, 1, 0), 'creator', 'alice00')
    expect(await over(failed, moving)).toEqual(all)
    expect(await over(moving, failed)).toEqual([...rowsOfMoving, [failed.hash, 0, undefined]])
  })

  test('more movements than receipts are reported as damage', async () => {
    await damaged.change(records, recordId(1, 3, 0), 'amount', '1')
    expect(await refusal(over(still, moving))).toMatchObject({
      kind: 'damaged',
      en: `The stored actions of transaction ${still.hash} claim 1 of its 0 movements.`,
    })
    expect(await over(moving)).toEqual(rowsOfMoving)
  })
})

describe('readRowTexts', async () => {
  const store = await loadedStore()
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
    for (const most of [2, 1]) {
      const fitting = most + 3
      const budget = (await bytesOf(rows.slice(0, fitting))) - 1
      expect(await refusal(textsOf(rows, { asked: TRANSACTIONS, budget }))).toEqual({
        kind: 'bad_request',
        en: `Parameter 'tx_hashes': the long texts of these transactions exceed 0 MB; ask for fewer hashes: at most ${most}.`,
        zh: `参数 'tx_hashes'：这些交易的长文本超过 0 MB；请减少哈希的数量，每次最多 ${most} 个。`,
      })
    }
    // A page turns a failure about an impossible hash into "not found". This failure must stay as it is.
    const failure: unknown = await textsOf(rows, { asked: TRANSACTIONS, budget: 0 }).catch((error: unknown) => error)
    const call = { action: getTransactionRecords, given: { tx_hashes: OTHER } }
    const visit = { id: OTHER, part: '', query: new URLSearchParams() }
    expect(toVisitorFailure(failure, call, visit)).toBe(failure as Error)
  })

  test('a row whose transaction does not exist is a defect, never an empty text', async () => {
    expect((await refusal(textsOf([row(807, 99_000, 0)]))).kind).toBe('defect')
  })
})

async function storing(made: Transaction, work: (deps: { readonly store: Store }) => Promise<void>) {
  await using place = await temporarySqlite()
  await commitRuns(place.store, [chainOf([genesis()], [{ ...made, body: nodeText(made) }])], { lib: 1 })
  await work(place)
}

test('receipts that fill a block are stored and returned, whatever their text is', async () => {
  // Text without end, whose quotes look like those of a list.
  const content = `[12345678901234567,"${'\\"'.repeat(2_250_000)}`
  const receipts = [receipt('ContractX/a', content), receipt('ContractX/a', 'é'.repeat(2_250_000))]
  const made = transaction({ actions: [action('ContractX/a', [])], receipts })
  await storing(made, async deps => {
    const expected = receipts.map(({ funcName: func_name, content }) => ({ func_name, content }))
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
        if (contract !== 'system.iost' || !/^(?:setCode|updateCode|initSetCode|updateNativeCode)$/.test(actionName))
          continue
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
