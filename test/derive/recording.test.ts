import { expect, test } from 'bun:test'
import { formatUnits } from '#chain/amount.ts'
import { accounts } from '#indices/account.ts'
import { contracts } from '#indices/contract.ts'
import { pledges } from '#indices/pledge.ts'
import { producerKeys } from '#indices/producer.ts'
import { resources } from '#indices/resource.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { oracle, recordedBlocks, rpcAnswers, type Tree } from '#test/support/nodes/recording.ts'
import { type Row, sortedByKey } from '#test/support/sorted-by-key.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

// `test/answers` compares balances, rows, tokens, producers, voters, ABIs and figures of the recording. Here is what it
// does not.

// Awaited here and not in a test: deriving the chain takes longer than the time limit of a test.
const { state, documents } = await derivedRecording()
const blocks = await recordedBlocks()
const truth = await oracle()

const fields = (value: Tree | undefined): ReadonlyMap<string, Tree> => value as ReadonlyMap<string, Tree>
const list = (value: Tree | undefined): readonly Tree[] => value as readonly Tree[]

test('deriveBlock: accounts, creators, permissions and groups match the node', () => {
  const text = (value: Tree | undefined) => String(value ?? '')
  const items = (value: Tree | undefined) =>
    list(value)
      .map(fields)
      .map(item => ({
        ...{ id: text(item.get('id')), weight: text(item.get('weight')), permission: text(item.get('permission')) },
        is_key_pair: item.get('is_key_pair') === true,
      }))
  const byName = (value: Tree | undefined) =>
    [...fields(value).values()].map(fields).sort((a, b) => (String(a.get('name')) < String(b.get('name')) ? -1 : 1))
  const expected = [...truth.accounts].map(([name, account]) => {
    const permissions = byName(account.get('permissions')).map(one => ({
      ...{ name: one.get('name'), group_names: one.get('groups'), threshold: text(one.get('threshold')) },
      items: items(one.get('items')),
    }))
    const groups = byName(account.get('groups')).map(one => ({ name: one.get('name'), items: items(one.get('items')) }))
    return [name, { creator: account.get('creator'), permissions, groups }] as const
  })
  const derived = state
    .all(accounts)
    .map(({ name, creator, permissions, groups }) => [name, { creator, permissions, groups }] as const)
  expect(derived.length).toBe(279)
  expect(sortedByKey(derived)).toEqual(sortedByKey(expected))
})

test('deriveBlock: owners of contracts and keys of producers match the node', () => {
  const owners = state.all(contracts).map(({ contract, owner }) => [contract, owner] as const)
  expect(sortedByKey(owners.filter(([contract]) => contract !== 'system.iost'))).toEqual(sortedByKey(truth.contracts))
  expect(state.get(contracts, 'system.iost')?.abis.map(({ name }) => name)).toContain('setCode')
  const keys = state.all(producerKeys).filter(({ account }) => account !== '')
  expect(sortedByKey(keys.map(({ id, account }) => [id, account] as const))).toEqual(sortedByKey(truth.producerKeys))
})

test('deriveBlock: gas of every account matches the node at its last refresh', () => {
  const expected = new Map<string, Map<string, bigint>>()
  for (const [key, text] of truth.gasTotals) {
    const [owner, kind] = [key.slice(0, -2), key.slice(-2)]
    const row = expected.get(owner) ?? new Map<string, bigint>()
    expected.set(owner, row)
    if (kind === 'gu') row.set(kind, BigInt(text))
    else {
      const [, value = '', scale = ''] = /"Value":(\d+),"Scale":(\d+)/.exec(text) ?? []
      row.set(kind, rescale(BigInt(value), Number(scale), kind === 'gt' ? 8 : 3))
    }
  }
  const derived = state.all(resources).filter(({ gas_updated }) => gas_updated > 0n)
  const rows = derived.map(({ id, gas_limit, gas_stock, gas_pledge, gas_updated }) => {
    const row = { gl: gas_limit, gs: gas_stock, gt: gas_pledge, gu: gas_updated }
    return [id, new Map(Object.entries(row))] as const
  })
  expect(sortedByKey(rows)).toEqual(sortedByKey(expected))
})

const rescale = (value: bigint, scale: number, to: number): bigint =>
  scale <= to ? value * 10n ** BigInt(to - scale) : value / 10n ** BigInt(scale - to)

test("deriveBlock: gas pledges match the node, per pair and in the node's order", async () => {
  const expected: Row[] = []
  for (const [pledger, all] of truth.gasPledges)
    for (const [beneficiary, amount] of all)
      if (amount !== '0') expected.push([`${pledger}/${beneficiary}`, BigInt(amount)])
  const derived = state.all(pledges).filter(({ amount }) => amount > 0n)
  expect(derived.length).toBe(1767)
  expect(sortedByKey(derived.map(({ id, amount }) => [id, amount] as const))).toEqual(sortedByKey(expected))
  let compared = 0
  for (const [call, text] of await rpcAnswers()) {
    const name = /^GET \/getAccount\/([^/]+)\/true$/.exec(call)?.[1]
    if (name === undefined) continue
    const own = derived.filter(({ pledger }) => pledger === name).sort((a, b) => a.seq - b.seq)
    expect(own.map(doc => ({ pledger: doc.beneficiary, amount: Number(formatUnits(doc.amount, 8)) }))).toEqual(
      JSON.parse(text).gas_info.pledged_info,
    )
    compared += own.length
  }
  expect(compared).toBeGreaterThan(1_000)
})

test('deriveBlock: RAM used and traded per owner and the market match the node', () => {
  const expected = [...truth.ramInfo].filter(([key, value]) => /^[UT]R/.test(key) && value !== '0')
  const derived = state
    .all(resources)
    .flatMap(({ id, ram_used, ram_total }) => [[`UR${id}`, ram_used] as const, [`TR${id}`, ram_total] as const])
    .filter(([, bytes]) => bytes !== 0n)
  expect(sortedByKey(derived)).toEqual(sortedByKey(expected.map(([key, value]) => [key, BigInt(value)] as const)))
  const [left, used, balance] = ['leftSpace', 'usedSpace', 'balance'].map(name => truth.ramInfo.get(name) ?? '')
  expect(state.get(statistics, STATISTICS)?.ram as unknown).toEqual({ left, used, balance })
})

test('deriveBlock: signer and gas of a block are those that the next base transaction names', () => {
  const said = blocks.slice(1).map(({ block }) => {
    const [base] = block.transactions
    const [{ parent }] = JSON.parse(base?.actions[0]?.data ?? '[]') as [{ parent: [string, string] }]
    const [, paid] = JSON.parse(base?.receipt.receipts.at(-1)?.content ?? '[]') as string[]
    return [paid ?? '', parent[0], parent[1]] as const
  })
  const derived = documents.slice(0, -1).map(({ block }) => {
    return [block.witness_account, block.witness, String(block.gas_usage)] as const
  })
  expect(derived).toEqual(said)
})
