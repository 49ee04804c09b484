import { describe, expect, test } from 'bun:test'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { found, notFound, spokenNode } from '#test/support/nodes/spoken-node.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

/** A valid hash of 32 bytes that no recorded transaction has. */
const NOWHERE = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
const detail = (tx_hash: string) => askText('get-transaction-detail', { tx_hash })

describe('get-transactions', () => {
  test('get-transactions: fifty hashes are answered at once, each like get-transaction-detail, in the requested order', async () => {
    const hashes = (await recordedBlocks())
      .flatMap(({ block }) => block.transactions)
      .filter((_tx, at) => at % 37 === 0)
      .map(({ hash }) => hash)
    expect(hashes.length).toBeGreaterThan(1_000)
    for (let at = 0; at < 1_000; at += 50) {
      const asked = hashes.slice(at, at + 50).toReversed()
      const expected = await Promise.all(asked.map(detail))
      expect(await askText('get-transactions', { tx_hashes: asked.join(',') })).toBe(
        `{"transactions":[${expected.join(',')}]}`,
      )
    }
  })
  test('get-transactions: accepts base transactions, genesis and duplicates, and returns null for unknown hashes', async () => {
    const blocks = await recordedBlocks()
    const [genesis = '', base = '', other = ''] = [0, 1200, 4824].map(
      height => blocks[height]?.block.transactions.at(height === 4824 ? 1 : 0)?.hash,
    )
    const asked = [base, NOWHERE, other, genesis, base, NOWHERE]
    const expected = await Promise.all(asked.map(hash => (hash === NOWHERE ? 'null' : detail(hash))))
    expect(await askText('get-transactions', { tx_hashes: asked.join(',') })).toBe(
      `{"transactions":[${expected.join(',')}]}`,
    )
    expect(await ask('get-transactions', { tx_hashes: NOWHERE })).toEqual({ transactions: [null] })
  })
  test('get-transactions: transactions that are not stored are read from the node, and are unavailable when no node answers', async () => {
    const pending = `{"status":"PENDING", "transaction":{"hash":"${NOWHERE}", "time":"1795247868355000000", "expiration":"1795247948355000000", "gas_ratio":1.01, "gas_limit":300000, "delay":"0", "chain_id":1020, "actions":[{"contract":"token.iost", "action_name":"transfer", "data":"[]"}], "signers":[], "publisher":"whale_01", "referred_tx":"", "amount_limit":[], "tx_receipt":null}, "block_number":"-1"}`
    const path = `/getTxByHash/${NOWHERE}`
    const tx_hashes = `8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp,${NOWHERE}`
    const over = (node: ReturnType<typeof spokenNode>) =>
      ask('get-transactions', { tx_hashes }, { deps: { node, clock: idleClock() } })
    const { transactions } = await over(spokenNode({ [path]: [found(pending)] }))
    expect(transactions.map(({ status }: { status: string }) => status)).toEqual(['IRREVERSIBLE', 'PENDING'])
    expect((await over(spokenNode({ [path]: [notFound('tx')] }))).transactions[1]).toBe(null)
    expect((await refusal(over(spokenNode({ [path]: [{ status: 500, text: '' }] })))).kind).toBe('unavailable')
  })
  test('get-transactions: while the load is far behind, unknown hashes are reported as not loaded yet', async () => {
    const node = spokenNode({ [`/getTxByHash/${NOWHERE}`]: [notFound('tx')] }, { libBlock: 90_000 })
    expect(
      (await refusal(ask('get-transactions', { tx_hashes: NOWHERE }, { deps: { node, clock: idleClock() } }))).kind,
    ).toBe('loading')
  })
  test('get-transactions: a refusal names the wrong value', async () => {
    expect(await refusal(ask('get-transactions', { tx_hashes: `${NOWHERE},abc` }))).toMatchObject({
      kind: 'bad_request',
      en: "Value 2 of parameter 'tx_hashes' is 'abc'; it must be a hash (32 bytes in base58, usually 43 or 44 characters).",
      zh: "参数 'tx_hashes' 的第 2 个值为 'abc'；取值须为：哈希，即 32 字节的 base58 文本，通常为 43 或 44 个字符。",
    })
    const many = Array.from({ length: 51 }, () => NOWHERE).join(',')
    expect((await refusal(ask('get-transactions', { tx_hashes: many }))).kind).toBe('bad_request')
  })
})
