import { describe, expect, test } from 'bun:test'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { found, notFound, spokenNode } from '#test/support/nodes/spoken-node.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

/** The node's text with delay and expiration as numbers. */
const asShown = (body: string): string =>
  body.replace(/"expiration":"(\d+)"/, '"expiration":$1').replace(/"delay":"(\d+)"/, '"delay":$1')

describe('get-transaction-detail', () => {
  test("get-transaction-detail: recorded transactions are the node's objects, character by character", async () => {
    const bodies = new Map<string, readonly [body: string, height: number]>()
    for (const { block } of await recordedBlocks())
      for (const tx of block.transactions) bodies.set(tx.hash, [tx.body, block.height])
    const wrong: string[] = []
    let count = 0
    for (const call of (await rpcAnswers()).keys()) {
      const hash = /^GET \/getTxByHash\/([^/]+)$/.exec(call)?.[1]
      if (hash === undefined) continue
      count += 1
      const [body, height] = bodies.get(hash) ?? ['', -1]
      const expected = `{"status":"IRREVERSIBLE","transaction":${asShown(body)},"block_number":"${height}"}`
      if ((await askText('get-transaction-detail', { tx_hash: hash })) !== expected) wrong.push(hash)
    }
    expect({ many: count > 350, wrong }).toEqual({ many: true, wrong: [] })
  })
  test("get-transaction-detail: base transactions and genesis match the node's objects, too", async () => {
    const blocks = await recordedBlocks()
    const wrong: number[] = []
    for (const height of [0, 1, 2, 1199, 1200, 2400, 4800, 4851]) {
      const tx = blocks[height]?.block.transactions[0]
      const said = await askText('get-transaction-detail', { tx_hash: tx?.hash ?? '' })
      const expected = `{"status":"IRREVERSIBLE","transaction":${asShown(tx?.body ?? '')},"block_number":"${height}"}`
      if (said !== expected) wrong.push(height)
    }
    expect(wrong).toEqual([])
  })
  test('get-transaction-detail: large figures are text with numbers=string', async () => {
    const said = await ask('get-transaction-detail', {
      tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp',
    })
    const { expiration, delay, gas_ratio, gas_limit, chain_id, tx_receipt } = said.transaction
    expect({ expiration, delay, gas_ratio, gas_limit, chain_id, gas: tx_receipt.gas_usage }).toEqual({
      expiration: '1795247459740000000',
      delay: '0',
      gas_ratio: '1',
      gas_limit: '3000000',
      chain_id: 1020,
      gas: '449830',
    })
  })
})

describe('get-transaction-detail of a transaction that is not stored', () => {
  const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
  const path = `/getTxByHash/${HASH}`
  const inPool = (status: string, receipt: string) =>
    `{"status":"${status}", "transaction":{"hash":"${HASH}", "time":"1795247868355000000", "expiration":"1795247948355000000", "gas_ratio":1.01, "gas_limit":300000, "delay":"0", "chain_id":1020, "actions":[{"contract":"token.iost", "action_name":"transfer", "data":"[\\"iost\\", \\"a\\"]"}], "signers":[], "publisher":"whale_01", "referred_tx":"", "amount_limit":[], "tx_receipt":${receipt}}, "block_number":"-1"}`
  const shown = (status: string, receipt: string) =>
    `{"status":"${status}","transaction":{"hash":"${HASH}","time":"1795247868355000000","expiration":1795247948355000000,"gas_ratio":1.01,"gas_limit":300000,"delay":0,"chain_id":1020,"actions":[{"contract":"token.iost","action_name":"transfer","data":"[\\"iost\\", \\"a\\"]"}],"signers":[],"publisher":"whale_01","referred_tx":"","amount_limit":[],"tx_receipt":${receipt}},"block_number":"-1"}`

  const receipt = `{"tx_hash":"${HASH}","gas_usage":9119.29,"ram_usage":{},"status_code":"SUCCESS","message":"","returns":[],"receipts":[]}`

  test('get-transaction-detail: a transaction in the pool is PENDING without a receipt', async () => {
    const node = spokenNode({ [path]: [found(inPool('PENDING', 'null'))] })
    expect(await askText('get-transaction-detail', { tx_hash: HASH }, { deps: { node } })).toBe(shown('PENDING', '{}'))
    const receipts = await askText('get-transaction-receipt', { tx_hash: HASH }, { deps: { node } })
    expect(receipts).toBe('{"receipts":[],"page":1,"size":0,"total":0}')
  })
  test("get-transaction-detail: the node's PACKED status is returned, also when only the second request finds the transaction", async () => {
    const node = spokenNode({ [path]: [notFound('tx'), found(inPool('PACKED', receipt))] })
    const clock = idleClock()
    expect(await askText('get-transaction-detail', { tx_hash: HASH }, { deps: { node, clock } })).toBe(
      shown('PACKED', receipt),
    )
    expect([node.asked, clock.slept]).toEqual([[path, path], [50]])
  })
  test('get-transaction-detail: a hash unknown to store and node is not found, after two requests to the node', async () => {
    const node = spokenNode({ [path]: [notFound('tx')] })
    expect(await refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))).toEqual({
      kind: 'not_found',
      en: `Transaction '${HASH}' does not exist at block 4851.`,
      zh: `交易 '${HASH}' 不存在（截至区块 4851）。`,
    })
    expect(node.asked).toEqual([path, path])
    expect(await askText('get-transaction-detail', { tx_hash: HASH }, { compat: 'iostabc' })).toBe('{}')
  })
  test('get-transaction-detail: while the load is far behind the node, an unknown hash is reported as not loaded yet', async () => {
    const node = spokenNode({ [path]: [notFound('tx')] }, { libBlock: 9000 })
    expect(await refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))).toEqual({
      kind: 'loading',
      en: `Transaction '${HASH}' is not available yet: loaded up to block 4851 of 9000.`,
      zh: `交易 '${HASH}' 暂不可用：目前已加载到区块 4851，最新的不可逆区块为 9000。`,
    })
  })
  test('get-transaction-detail: an invalid answer of the node is refused, not reported as not found', async () => {
    for (const text of ['{"status":"PENDING"', '[]', '{"status":1,"transaction":{}}', '{}']) {
      const node = spokenNode({ [path]: [found(text)] })
      expect((await refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))).kind).toBe(
        'bad_block',
      )
    }
  })
  test('get-transaction-detail: another transaction than the requested one, or a place where the store has no such transaction, is refused', async () => {
    const right = inPool('PENDING', 'null')
    const packed = inPool('PACKED', receipt)
    const OTHER = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'
    for (const [text, says] of [
      [right.replace(HASH, OTHER), /hash: "8Q1w\w+" is not the requested transaction/],
      [right.replace('"PENDING"', '"FINAL"'), /status: "FINAL" is not a transaction status/],
      [packed.replace('"PACKED"', '"IRREVERSIBLE"'), /block_number: "-1" is not above block 4851/],
      [packed.replace('"-1"', '"4851"'), /block_number: "4851" is not above block 4851/],
      [packed.replace('"-1"', '"900000000000"'), /"900000000000" is not a block for which there has been time/],
      [right.replace('"-1"', '"4852"'), /block_number: "4852" is not -1/],
      [right.replace('"PENDING"', '"PACKED"'), /tx_receipt: "null" is not what a transaction that is PACKED has/],
      [packed.replace('"PACKED"', '"PENDING"'), /tx_receipt: "a receipt" is not what a transaction that is PEND/],
    ] as const) {
      const node = spokenNode({ [path]: [found(text)] })
      const refused = await refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))
      expect([refused.kind, refused.en]).toEqual(['bad_block', expect.stringMatching(says)])
    }
  })
})
