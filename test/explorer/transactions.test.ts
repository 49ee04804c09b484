import { expect, test } from 'bun:test'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { found, spokenNode } from '../support/nodes/spoken-node.ts'
import { explorerOn } from './served.ts'

const explorer = await explorerOn()

/** The ISO time of nanoseconds since 1970. */
const toIso = (nanoseconds: string): string => new Date(Number(BigInt(nanoseconds) / 1_000_000n)).toISOString()

const listRows = (contract: string, action_name: string, size = '25') =>
  explorer.list('contract/get-contract-tx', { contract, action_name, size })

test('/tx: a failure is explained in both languages, with the failed action and links to existing pages', async () => {
  const path = '/tx/4qDBRfj8UZTQWMrkuh3chkrXE31d3yh6hpoA3MvTKuaL'
  const [{ html, text }, zh] = await explorer.visitBoth(path)
  expect(text).toContain('user_009 had 1,217.6 iost, and 99,999,999 was needed.')
  expect(text).toContain('It failed in action 2 of 2, token.iost transfer.')
  expect(html).toContain('href="#action-2"')
  const [first, second] = html.split('id="action-2"')
  expect(first).not.toContain('Failed here')
  expect(second).toMatch(/Failed here.*account\/user_029"/s)
  expect(zh.text).toContain('user_009 仅有 1,217.6 iost，而需要 99,999,999。')
})

test('/contract: calls that lock something show the amount, and locked amounts show their end apart from the memo', async () => {
  for (const [contract, name, unit] of [
    ['vote_producer.iost', 'vote', 'iost'],
    ['vote_producer.iost', 'unvote', 'iost'],
    ['gas.iost', 'pledge', 'iost'],
    ['ram.iost', 'buy', 'bytes'],
    ['ram.iost', 'sell', 'bytes'],
  ] as const) {
    const rows = await listRows(contract, name)
    const { html } = await explorer.visit(`/contract/${contract}?action_name=${name}`)
    const named = [...html.matchAll(/<span class="amount named"[^>]*><data value="([^"]*)".*?<\/data> <span>(\w+)/gs)]
    const locked = rows.filter(({ amount, token }) => amount !== undefined && token === undefined)
    expect([name, named.map(([, ...pair]) => pair)]).toEqual([name, locked.map(({ amount }) => [amount, unit])])
    expect(named.length).toBeGreaterThan(0)
  }
  const frozen = (await listRows('token.iost', 'transferFreeze')).flatMap(({ locked_until }) => locked_until ?? [])
  const { html } = await explorer.visit('/contract/token.iost?action_name=transferFreeze')
  const locks = [...html.matchAll(/<small class="lock">.*?datetime="([^"]*)"/gs)].map(([, iso]) => iso)
  expect(locks).toEqual(frozen.map(toIso))
  expect(locks.length).toBeGreaterThan(0)
  const memos = [...html.matchAll(/<small class="memo">(.*?)<\/small>/gs)]
  expect(memos.some(([, memo = '']) => memo.includes('<time'))).toBe(false)
})

test('/tx: shows the end of a freeze apart from the memo, and arguments that are times as times', async () => {
  const rows = await listRows('token.iost', 'transferFreeze', '500')
  const { tx_hash, data = [] } = rows.find(row => (row['data'][5] ?? '') !== '') ?? {}
  const until = String(data[4])
  const { html, text } = await explorer.visit(`/tx/${tx_hash}`)
  expect(text).toContain(until)
  const at = `<span class="when"><time class="at" datetime="${toIso(until)}"`
  // The column of the time never contains a memo.
  expect(html).toContain(`<td data-head="Frozen until">${at}`)
  expect(html).toContain(`<data value="${until}" title="${until}">${at}`)
  const memos = [...html.matchAll(/<td data-head="Memo">(.*?)<\/td>/gs)].map(([, cell = '']) => cell)
  expect([memos.length > 0, memos.some(cell => cell.includes('<time'))]).toEqual([true, false])
})

test('/tx: shows the end of its validity, and links to its deployed contracts', async () => {
  const contracts = await explorer.list('base/get-contract-list', { size: '500' })
  const deployed = contracts.filter(({ contract_id }) => contract_id.startsWith('Contract'))
  expect(deployed.length).toBeGreaterThan(0)
  for (const { contract_id, tx_hash } of deployed.slice(0, 8)) {
    const { html } = await explorer.visit(`/tx/${tx_hash}`)
    expect(html).toContain(`contract/${contract_id}"`)
    expect(html).toContain('Valid until')
  }
})

test('/tx: RAM that a transaction gives back is returned, not paid', async () => {
  const all = (await recordedBlocks()).flatMap(({ block }) => block.transactions)
  const usageOf = (body = '{"tx_receipt":{"ram_usage":{}}}') =>
    Object.entries<string>(JSON.parse(body).tx_receipt.ram_usage)
  const given = all.find(({ body }) => usageOf(body).some(([, bytes]) => bytes.startsWith('-')))
  const { text } = await explorer.visit(`/tx/${given?.hash}`)
  for (const [payer, bytes] of usageOf(given?.body))
    expect(text).toContain(
      bytes.startsWith('-') ? `${bytes.slice(1)} bytes, returned to ${payer}` : `bytes, paid by ${payer}`,
    )
  expect(text).not.toMatch(/-\d+ bytes/)
})

test('/tx: one that creates an account shows the pledge and the payment inside the receipt', async () => {
  const [row] = await listRows('auth.iost', 'signUp')
  const { html } = await explorer.visit(`/tx/${row?.['tx_hash']}`)
  const names = [...html.matchAll(/<(ul class="call-tree"|\/ul)>|<li><span class="what">.*?<bdi>(\w+)<\/bdi>/g)]
  const drawn = names.map(([, list, name]) => name ?? (list === '/ul' ? ')' : '(')).join(' ')
  expect(drawn).toContain('signUp ( pledge ( transfer ) )')
})

test('/transactions: rows show the moved amounts, and none for a failed transaction', async () => {
  const transactions = await explorer.list('base/get-transaction-list', { size: '25' })
  const tx_hashes = transactions.map(({ tx_hash }) => tx_hash).join(',')
  const records = await explorer.list('transaction/get-transaction-records', { tx_hashes })
  const moved = records.filter(({ token }) => token !== undefined)
  const rows = (await explorer.visit('/transactions')).html.split('<tr>').slice(2)
  const shown = rows.map(row =>
    [...row.matchAll(/<span class="amount"[^>]*><data value="([^"]*)"/g)].map(([, amount]) => amount),
  )
  expect(shown).toEqual(
    transactions.map(({ tx_hash }) =>
      moved
        .filter(row => row['tx_hash'] === tx_hash)
        .map(row => row['amount'])
        .slice(0, 2),
    ),
  )
  expect(transactions.some(({ status_code }) => status_code !== 'SUCCESS')).toBe(true)
  expect(moved.length).toBeGreaterThan(0)
})

test('/blocks: times have seconds, and a block counts the same transactions as its list shows', async () => {
  const { html } = await explorer.visit('/blocks')
  const times = [...html.matchAll(/<time class="ago day"[^>]*>([^<]*)</g)].map(([, text = '']) => text)
  expect(times.length).toBeGreaterThan(10)
  expect(times.filter(text => !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text))).toEqual([])
  const blocks = (await recordedBlocks()).slice(-25).toReversed()
  const counted = [...html.matchAll(/<td data-head="Transactions"[^>]*>.*?>(\d+)</gs)].map(([, text]) => text)
  expect(counted).toEqual(blocks.map(({ block }) => String(block.transactions.length - 1)))
  expect((await explorer.visit('/block/4850')).text).toContain('0, and the base transaction of the block')
  const { text } = await explorer.visit('/block/0')
  expect(text).not.toContain('and the base transaction')
  expect(text).toContain('Parent—Signed by')
})

/** The recorded contracts are not minified: a method begins a line, or follows a brace. */
function plainNames(code: string, method: string): readonly string[] {
  const [, names = ''] = new RegExp(`(?:^|[\\n{};\\s])${method}\\s*\\(([^)]*)\\)\\s*\\{`).exec(code) ?? []
  return names.split(',').flatMap(name => (name.trim() === '' ? [] : [name.trim()]))
}

test('/contract: has the names of arguments from the code of the contract', async () => {
  const contract = 'Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW'
  const { code } = await explorer.call('contract/get-contract-code', { contract })
  const { html } = await explorer.visit(`/contract/${contract}`)
  for (const { name, args } of await explorer.list('contract/get-contract-abi', { contract })) {
    const names = plainNames(code, name)
    expect([name, names.length]).toEqual([name, args.length])
    expect(html).toContain(`<code>${args.map((type: string, at: number) => `${names[at]}: ${type}`).join(', ')}</code>`)
  }
})

const CHANGED = 'The code that these argument names come from was changed after this transaction'
const NAMED = 'Argument names come from the current code of the contract.'
/** A contract whose code was changed between calls of the action, and a contract with its original code. */
const CALLED = [
  ['ContractD772oDQpykrtxkDE4Ypy8NSbfQhXF2RxUQG879FSRcXg', 'ping'],
  ['Contractjnq6aRFWX1qhc1pSFFAN3ZdG7zb4kQvWGMWzxKjozKJ', 'play'],
] as const

test("a transaction's page says where the argument names come from, and whether the code was changed after the call", async () => {
  const seen = new Set<string>()
  for (const [contract, method] of CALLED) {
    const { code, block } = await explorer.call('contract/get-contract-code', { contract })
    const names = plainNames(code, method)
    for (const { tx_hash, block: calledIn, data } of await listRows(contract, method, '40')) {
      const actions = await explorer.list('transaction/get-transaction-action', { tx_hash })
      if (actions.length > 1) continue
      const { html, text } = await explorer.visit(`/tx/${tx_hash}`)
      const fits = data.length === names.length
      const isBefore = Number(calledIn) < Number(block)
      const shown = [...html.matchAll(/<td class="lead"><code>([^<]*)<\/code>/g)].map(([, name = '']) => name)
      expect([tx_hash, text.includes(NAMED), text.includes(CHANGED), shown]).toEqual([
        ...[tx_hash, fits, fits && isBefore],
        fits ? [...names] : data.map((_: unknown, at: number) => `#${at + 1}`),
      ])
      seen.add(!fits ? 'other' : isBefore ? 'before' : 'after')
    }
  }
  expect([...seen].toSorted()).toEqual(['after', 'before', 'other'])
})

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'

const transferTo = (to: string) => ({
  ...{ contract: 'token.iost', action_name: 'transfer', data: `["iost","whale_01","${to}","5","a memo"]` },
})

/** The explorer with a node whose transaction is in no published block; `receipt`: null while it is in the pool. */
function explorerWith(over: object, receipt: object | null) {
  const empty = { gas_usage: 9119.29, ram_usage: {}, status_code: 'SUCCESS', message: '', returns: [], receipts: [] }
  const transaction = {
    ...{ hash: HASH, time: '1795247868355000000', expiration: '1795247948355000000', chain_id: 1020, delay: '0' },
    ...{ gas_ratio: 1, gas_limit: 300000, signers: [], publisher: 'whale_01', referred_tx: '', amount_limit: [] },
    actions: [transferTo('user_001')],
    ...over,
    tx_receipt: receipt && { tx_hash: HASH, ...empty, ...receipt },
  }
  const status = receipt === null ? 'PENDING' : 'PACKED'
  const body = JSON.stringify({ status, transaction, block_number: '-1' })
  return explorerOn({ node: spokenNode({ [`/getTxByHash/${HASH}`]: [found(body)] }) })
}

const FROM_NODE = 'From a node; not in an irreversible block when this page was made.'
const FROM_NODE_ZH = '数据来自全节点；生成本页时尚未进入不可逆区块。'

test('/tx: one in an unpublished block shows the movements of its receipts, and its footer no published block', async () => {
  const receipts = [
    ['transfer', ['iost', 'whale_01', 'user_001', '1.123456789', 'a memo']],
    ['issue', ['iost', 'user_002', '2.5']],
    ['destroy', ['iost', 'user_003', '3']],
  ].map(([name, content]) => ({ func_name: `token.iost/${name}`, content: JSON.stringify(content) }))
  const { visit } = await explorerWith({}, { receipts })
  const { text, html } = await visit(`/tx/${HASH}`)
  const [moved = ''] = text.split('BlockTime')[0]?.match(/FromTo.*/s) ?? []
  expect(moved).not.toContain('Available once')
  expect(moved).toContain('whale_01user_001a memo1.12345678 iost')
  expect(moved).toContain('user_002—2.5 iost')
  expect(html).toContain('/account/user_003"')
  expect(text).toContain(FROM_NODE)
  expect(text).not.toContain('As of irreversible')
})

test('/tx: the movements and the gas of one in the pool are shown as not known yet', async () => {
  const { visitBoth } = await explorerWith({}, null)
  const [en, zh] = await visitBoth(`/tx/${HASH}`)
  for (const part of ['Known once a block has the transaction.', 'Gas paid— by whale_01, limit 300,000', FROM_NODE])
    expect(en.text).toContain(part)
  for (const part of ['交易打包后方可得知。', '支付的 gas— 支付者 whale_01，上限 300,000', FROM_NODE_ZH])
    expect(zh.text).toContain(part)
  expect(en.text + zh.text).not.toMatch(/No tokens moved|As of irreversible|没有代币变动|数据截至/)
})

test('/tx: a delayed one says that its actions run later', async () => {
  const { visitBoth } = await explorerWith({ delay: '500000000' }, {})
  const [en, zh] = await visitBoth(`/tx/${HASH}`)
  expect(en.text).toContain('the actions are delayed, and run in a later transaction unless they are cancelled')
  expect(zh.text).toContain('其方法延迟执行')
})

test.each([
  ['delayed', { delay: '500000000' }, {}],
  ['failed', {}, { status_code: 'RUNTIME_ERROR' }],
])('/tx: a %s one does not link to names that may not exist', async (_, over, receipt) => {
  const { visit } = await explorerWith({ ...over, actions: [transferTo('nosuchone')] }, receipt)
  const hrefs = (await visit(`/tx/${HASH}`)).links.map(({ href }) => href)
  expect(hrefs).toContain('../account/whale_01')
  expect(hrefs).not.toContain('../account/nosuchone')
})
