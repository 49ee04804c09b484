import { expect, setDefaultTimeout, test } from 'bun:test'
import { found, spokenNode } from '../support/nodes/spoken-node.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'

/** The explorer with a node whose transaction is in no published block; `receipt`: null while it is in the pool. */
function withTransaction(over: object, receipt: object | null) {
  const transaction = {
    ...{ hash: HASH, time: '1795247868355000000', expiration: '1795247948355000000' },
    ...{ gas_ratio: 1, gas_limit: 300000, delay: '0', chain_id: 1020 },
    ...{ signers: [], publisher: 'whale_01', referred_tx: '', amount_limit: [] },
    actions: [
      {
        ...{ contract: 'token.iost', action_name: 'transfer' },
        data: '["iost","whale_01","user_001","5","a memo"]',
      },
    ],
    ...over,
    tx_receipt:
      receipt === null
        ? null
        : {
            ...{ tx_hash: HASH, gas_usage: 9119.29, ram_usage: {}, status_code: 'SUCCESS', message: '' },
            ...{ returns: [], receipts: [] },
            ...receipt,
          },
  }
  const status = receipt === null ? 'PENDING' : 'PACKED'
  const body = JSON.stringify({ status, transaction, block_number: '-1' })
  return explorerOn({ node: spokenNode({ [`/getTxByHash/${HASH}`]: [found(body)] }) })
}

test('words: a transaction in an unpublished block shows the movements of its receipts', async () => {
  const receipts = [
    ['transfer', ['iost', 'whale_01', 'user_001', '1.123456789', 'a memo']],
    ['issue', ['iost', 'user_002', '2.5']],
    ['destroy', ['iost', 'user_003', '3']],
  ].map(([name, content]) => ({ func_name: `token.iost/${name}`, content: JSON.stringify(content) }))
  const { visit } = await withTransaction({}, { receipts })
  const { text, html } = await visit(`/tx/${HASH}`)
  const [moved = ''] = text.split('BlockTime')[0]?.match(/FromTo.*/s) ?? []
  expect(moved).not.toContain('Available once')
  expect(moved).toContain('whale_01user_001a memo1.12345678 iost')
  expect(moved).toContain('user_002—2.5 iost')
  expect(html).toContain('/account/user_003"')
})

test('words: the movements and the gas of a transaction in the pool are shown as not known yet', async () => {
  const { visit } = await withTransaction({}, null)
  for (const [prefix, waiting, none, gas] of [
    ['', 'Known once a block has the transaction.', 'No tokens moved', 'Gas paid— by whale_01, limit 300,000'],
    ['/zh', '交易打包后方可得知。', '没有代币变动', '支付的 gas— 支付者 whale_01，上限 300,000'],
  ] as const) {
    const { text } = await visit(`${prefix}/tx/${HASH}`)
    expect(text).toContain(waiting)
    expect(text).not.toContain(none)
    expect(text).toContain(gas)
  }
})

test('words: a delayed transaction says that its actions run later, and does not link to names that may not exist', async () => {
  const data = '["iost","whale_01","nosuchone","5",""]'
  const actions = [{ contract: 'token.iost', action_name: 'transfer', data }]
  const { visit } = await withTransaction({ delay: '500000000', actions }, {})
  const en = await visit(`/tx/${HASH}`)
  expect(en.text).toContain('the actions are delayed, and run in a later transaction unless they are cancelled')
  expect((await visit(`/zh/tx/${HASH}`)).text).toContain('其方法延迟执行')
  const hrefs = en.links.map(({ href }) => href)
  expect(hrefs).toContain('../account/whale_01')
  expect(hrefs).not.toContain('../account/nosuchone')
})

test('words: the footer of a transaction in no published block does not name the published block', async () => {
  for (const receipt of [null, {}]) {
    const { visit } = await withTransaction({}, receipt)
    const [en, zh] = [await visit(`/tx/${HASH}`), await visit(`/zh/tx/${HASH}`)]
    expect(en.text).toContain('From a node; not in an irreversible block when this page was made.')
    expect(zh.text).toContain('数据来自全节点；生成本页时尚未进入不可逆区块。')
    expect(en.text + zh.text).not.toMatch(/As of irreversible|数据截至/)
  }
})
