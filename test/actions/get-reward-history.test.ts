import { expect, test } from 'bun:test'
import { readCandidateBonuses } from '#actions/find/holdings.ts'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { bonusEvents } from '#test/support/oracle/bonus-events.ts'
import { voteBonuses } from '#test/support/oracle/plain-bonus.ts'
import { ask } from '#test/support/stores/ask.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)

type Row = {
  readonly producer: string
  readonly block: number
  readonly tx_hash: string
  readonly action_name: string
  readonly producer_amount: string
  readonly added_for_voters: string
  readonly taken_by_voters: string
}

const amount = (text: string | undefined): string => fromUnits(toUnits(text ?? '0', 8), 8)

/** Rows computed from the receipts, without any code of `src/derive`. */
function rowsOf(name: string, content: string): readonly Omit<Row, 'block' | 'tx_hash'>[] {
  const none = { producer_amount: '0', added_for_voters: '0', taken_by_voters: '0' }
  // Receipts of user contracts need not be JSON.
  if (!/^(?:token|vote_producer)\.iost\//.test(name)) return []
  const said = JSON.parse(content)
  switch (name) {
    case 'token.iost/transfer': {
      const [token, from, producer, paid] = said as string[]
      return token === 'iost' && from === 'bonus.iost' && paid !== undefined
        ? [{ ...none, producer: producer ?? '', action_name: 'exchangeIOST', producer_amount: amount(paid) }]
        : []
    }
    case 'vote_producer.iost/candidateWithdraw': {
      const [producer = '', own, voters] = said as string[]
      return [
        {
          ...none,
          producer,
          action_name: 'candidateWithdraw',
          producer_amount: amount(own),
          added_for_voters: amount(voters),
        },
      ]
    }
    case 'vote_producer.iost/topupVoterBonus': {
      const [producer = '', added] = said as string[]
      return [{ ...none, producer, action_name: 'topupVoterBonus', added_for_voters: amount(added) }]
    }
    case 'vote_producer.iost/voterWithdraw':
      return Object.entries(said as Record<string, string>)
        .filter(([, taken]) => toUnits(taken, 8) > 0n)
        .map(([producer, taken]) => ({
          ...none,
          producer,
          action_name: 'voterWithdraw',
          taken_by_voters: amount(taken),
        }))
    default:
      return []
  }
}

const all: readonly Row[] = blocks.flatMap(({ height, transactions }) =>
  transactions.flatMap(({ hash, receipt }) =>
    receipt.statusCode === 'SUCCESS'
      ? receipt.receipts.flatMap(({ funcName, content }) =>
          rowsOf(funcName, content).map(row => ({ ...row, block: height, tx_hash: hash })),
        )
      : [],
  ),
)

test('the recorded chain has every kind of reward, except at most one', () => {
  const kinds = new Set(all.map(row => row.action_name))
  for (const kind of ['candidateWithdraw', 'topupVoterBonus', 'voterWithdraw']) expect(kinds.has(kind)).toBe(true)
})

for (const producer of new Set(all.map(row => row.producer)))
  test(`${producer}: each row matches a receipt`, async () => {
    const own = all.filter(row => row.producer === producer)
    const expected = own.map(({ producer: _, ...row }, at) => ({ seq: at + 1, ...row }))
    const { rewards, total } = await ask('get-reward-history', { producer, sort: 'asc', size: '500' })
    expect(total).toBe(own.length)
    expect(rewards).toMatchObject(expected.slice(0, 500))
  })

test('readCandidateBonuses: what each producer could withdraw for itself after many blocks matches a replay of the receipts', async () => {
  const plain = voteBonuses()
  const names = [...new Set(all.map(row => row.producer))]
  const heights = [-1]
  const expected = new Map(names.map(name => [name, [0n]]))
  for (const { height, transactions } of blocks) {
    for (const event of transactions.flatMap(bonusEvents)) plain.apply(event)
    if (height % 97 !== 0 && height < blocks.length - 1) continue
    heights.push(height)
    for (const name of names) expected.get(name)?.push(plain.ofCandidate(name) / 2n)
  }
  const store = await loadedStore()
  for (const name of names) {
    const found = await store.read(view => readCandidateBonuses(view, name, heights))
    expect([name, found]).toEqual([name, expected.get(name) ?? []])
  }
  expect([...expected.values()].flat().filter(units => units > 0n).length).toBeGreaterThan(20)
})
