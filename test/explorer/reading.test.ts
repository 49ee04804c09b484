import { expect, setDefaultTimeout, test } from 'bun:test'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

type Row = {
  readonly tx_hash: string
  readonly action_name: string
  readonly amount?: string
  readonly token?: string
  readonly memo?: string
  readonly locked_until?: string
}

const explorer = await explorerOn()

const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')

test('reading: a failure is explained in both languages, with the failed action and links to existing pages', async () => {
  const path = '/tx/4qDBRfj8UZTQWMrkuh3chkrXE31d3yh6hpoA3MvTKuaL'
  const { html } = await explorer.visit(path)
  expect(textOf(html)).toContain('user_009 had 1,217.6 iost, and 99,999,999 was needed.')
  expect(textOf(html)).toContain('It failed in action 2 of 2, token.iost transfer.')
  expect(html).toContain('href="#action-2"')
  const [, second = ''] = html.split('id="action-2"')
  expect(html.split('id="action-2"')[0]).not.toContain('Failed here')
  expect(second).toContain('Failed here')
  expect(second).toContain('account/user_029"')
  expect(textOf((await explorer.visit(`/zh${path}`)).html)).toContain('user_009 仅有 1,217.6 iost，而需要 99,999,999。')
})

/** Every so many failed transactions are opened; all of them in a long run. */
const EVERY = SOAK ? 1 : 15

test('reading: every failed transaction marks at most one action, and names without an owner are no links', async () => {
  let [worded, marked] = [0, 0]
  const failed = (await recordedBlocks())
    .flatMap(({ block }) => block.transactions)
    .filter(({ body }) => JSON.parse(body).tx_receipt.status_code !== 'SUCCESS')
  for (const { hash } of failed.filter((_, at) => at % EVERY === 0)) {
    const { html } = await explorer.visit(`/tx/${hash}`)
    const marks = html.split('Failed here').length - 1
    expect([hash, marks <= 1]).toEqual([hash, true])
    marked += marks
    worded += Number(html.includes('class="words"'))
    expect([hash, /account\/(?:nobody_0|toolongname1)"/.test(html)]).toEqual([hash, false])
  }
  expect([worded > 10, marked > 10]).toEqual([true, true])
})

test('reading: calls that lock something show the amount, and locked amounts show their end apart from the memo', async () => {
  const rowsOf = async (contract: string, action_name: string): Promise<readonly Row[]> =>
    (
      await explorer.call<{ transactions: readonly Row[] }>('contract/get-contract-tx', {
        ...{ contract, action_name, size: '25' },
      })
    ).transactions
  for (const [contract, name, unit] of [
    ['vote_producer.iost', 'vote', 'iost'],
    ['vote_producer.iost', 'unvote', 'iost'],
    ['gas.iost', 'pledge', 'iost'],
    ['ram.iost', 'buy', 'bytes'],
    ['ram.iost', 'sell', 'bytes'],
  ] as const) {
    const rows = await rowsOf(contract, name)
    const { html } = await explorer.visit(`/contract/${contract}?action_name=${name}`)
    const named = [...html.matchAll(/<span class="amount named"[^>]*><data value="([^"]*)".*?<\/data> <span>(\w+)/gs)]
    expect([name, named.map(([, amount, of]) => [amount, of])]).toEqual([
      name,
      rows.flatMap(({ amount, token }) => (amount === undefined || token !== undefined ? [] : [[amount, unit]])),
    ])
    expect(named.length).toBeGreaterThan(0)
  }
  const frozen = (await rowsOf('token.iost', 'transferFreeze')).filter(({ locked_until }) => locked_until !== undefined)
  const { html } = await explorer.visit('/contract/token.iost?action_name=transferFreeze')
  const locks = [...html.matchAll(/<small class="lock">.*?datetime="([^"]*)"/gs)].map(([, iso]) => iso)
  expect(locks).toEqual(
    frozen.map(({ locked_until = '0' }) => new Date(Number(BigInt(locked_until) / 1_000_000n)).toISOString()),
  )
  expect(locks.length).toBeGreaterThan(0)
  expect(
    [...html.matchAll(/<small class="memo">(.*?)<\/small>/gs)].some(([, memo = '']) => memo.includes('<time')),
  ).toBe(false)
})

test("reading: a transaction's page shows the end of its validity, and links to its deployed contracts", async () => {
  const { contracts } = await explorer.call<{
    contracts: readonly { contract_id: string; tx_hash: string }[]
  }>('base/get-contract-list', { size: '500' })
  const deployed = contracts.filter(({ contract_id }) => contract_id.startsWith('Contract'))
  expect(deployed.length).toBeGreaterThan(0)
  for (const { contract_id, tx_hash } of deployed.slice(0, 8)) {
    const { html } = await explorer.visit(`/tx/${tx_hash}`)
    expect(html).toContain(`contract/${contract_id}"`)
    expect(textOf(html)).toContain('Valid until')
  }
})

test('reading: times of lists have seconds', async () => {
  const { html } = await explorer.visit('/blocks')
  const times = [...html.matchAll(/<time class="ago day"[^>]*>([^<]*)</g)].map(([, text]) => text)
  expect(times.length).toBeGreaterThan(10)
  for (const text of times) expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
})
