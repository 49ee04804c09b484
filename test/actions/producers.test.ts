import { describe, expect, test } from 'bun:test'
import { readCandidateBonuses } from '#actions/shape/holdings.ts'
import { formatUnits, toUnits } from '#chain/amount.ts'
import { toIso } from '#chain/time.ts'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainBallots, plainChangeOfWeek, plainVoteDays } from '#test/support/oracle/plain-ballots.ts'
import { bonusEvents, voteBonuses } from '#test/support/oracle/plain-bonus.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { VOTED, votedChain } from '#test/support/stores/voted-chain.ts'

const STATUSES = ['APPLY', 'APPROVED', 'UNAPPLY', 'UNAPPLY_APPROVED']

const blocks = (await recordedBlocks()).map(({ block }) => block)
const { producers, producerVotes, votes } = await oracle()
const votesOf = (name: string) => toUnits(String(producerVotes.get(name)?.get('votes') ?? '0'), 8)

describe('get-producer-list', () => {
  test("lists the contract's table by votes, then by name, in pages and both orders", async () => {
    const sorted = [...producers].toSorted(([a], [b]) =>
      votesOf(a) === votesOf(b) ? (a < b ? -1 : 1) : votesOf(a) > votesOf(b) ? -1 : 1,
    )
    const whole = await Promise.all(
      sorted.map(async ([account, row], at) => ({
        ...{ account, alias: '', alias_en: '', ranking: at + 1 },
        votes: formatUnits(votesOf(account), 8),
        // All recorded votes were cast on the last day.
        votes_change_7d: formatUnits(votesOf(account), 8),
        voter_count: (await ask('get-producer-voter', { producer: account, size: '1' })).total,
        status: STATUSES[Number(row.get('status'))],
        online: row.get('online'),
        isProducer: row.get('isProducer'),
        // One producer signs every block of the recording except genesis.
        block_count: account === 'producer000' ? 4851 : 0,
        received_award: (await ask('get-producer-detail', { producer: account })).received_award,
        loc: row.get('loc'),
        url: row.get('url'),
      })),
    )
    expect(whole.length).toBe(13)
    for (const [sort, rows] of Object.entries({ desc: whole, asc: whole.toReversed() }))
      for (const size of [1, 5, 13, 14])
        for (let page = 1; page <= Math.ceil(whole.length / size) + 1; page++) {
          const part = { producers: rows.slice((page - 1) * size, page * size), page, size, total: whole.length }
          expect(await ask('get-producer-list', { page: `${page}`, size: `${size}`, sort })).toEqual(part)
        }
  })

  test('get-producer-list, get-producer-detail: the texts of the profile file are returned', async () => {
    const profile = {
      ...{ alias: '节点', alias_en: 'Node', description: '介绍', description_en: 'About', logo: 'https://x/l.png' },
      ...{ statement: '宣言', statement_en: 'Say', type: '交易所', type_en: 'Exchange' },
      social_media: { twitter: 'https://x' },
    }
    const deps = { profiles: { get: (name: string) => (name === 'prod_01' ? profile : undefined) } }
    expect(await ask('get-producer-detail', { producer: 'prod_01' }, { deps })).toMatchObject(profile)
    const other = await ask('get-producer-detail', { producer: 'prod_02' }, { deps })
    expect([other.alias, other.social_media]).toEqual(['', {}])
    const listed: readonly Row[] = (await ask('get-producer-list', {}, { deps })).producers
    const named = [{ account: 'prod_01', alias: '节点', alias_en: 'Node' }]
    expect(listed.filter(({ alias }) => alias !== '')).toMatchObject(named)
  })
})

test('get-producer-registration: every producer with votes is in the table, or names the block in which it was unregistered', async () => {
  const left = new Map<string, { unregistered_block: number; unregistered_at: string }>()
  for (const { height, time, transactions } of blocks)
    for (const { funcName, content } of transactions.flatMap(({ receipt }) => receipt.receipts))
      if (funcName === 'vote_producer.iost/unregister')
        left.set(String(JSON.parse(content)[0]), { unregistered_block: height, unregistered_at: toIso(time) })
  let former = 0
  for (const [producer, option] of producerVotes) {
    const row = producers.get(producer)
    const said = await ask('get-producer-registration', { producer })
    expect(said).toMatchObject({
      ...{ account: producer, registered: row !== undefined, votes: option.get('votes') },
      ...(row === undefined ? left.get(producer) : { status: STATUSES[Number(row.get('status'))] }),
      voter_count: votes.get(producer)?.size ?? 0,
    })
    expect(['unregistered_block' in said, 'status' in said]).toEqual([row === undefined, row !== undefined])
    former += Number(row === undefined)
  }
  expect(former).toBeGreaterThan(0)
})

const whole = (days: readonly object[]) => ({ days, page: 1, size: days.length, total: days.length })

type Row = { readonly account: string; readonly alias: string; readonly votes_change_7d: string }

describe('get-producer-votes', () => {
  test('the recorded chain: each day matches a replay of the receipts', async () => {
    const changes = plainBallots(blocks)
    const [first = 0n, last = 0n] = [blocks[0]?.time, blocks.at(-1)?.time]
    for (const producer of producers.keys()) {
      const own = changes.filter(change => change.producer === producer)
      const expected = plainVoteDays(own, first, last)
      expect([producer, await ask('get-producer-votes', { producer })]).toEqual([producer, whole(expected)])
      const votes = String(producerVotes.get(producer)?.get('votes') ?? '0')
      expect(expected.at(-1)).toMatchObject({ date: '2026-11-21', votes, change: votes, complete: false })
      expect(expected.length).toBe(31)
    }
  })

  test('a chain of some months: after every block this and get-producer-list match a replay', async () => {
    const seed = seedOf(11)
    const chain = votedChain(seeded(seed), { quiet: 40, busy: 110 })
    await using place = await temporarySqlite()
    const deps = { store: place.store }
    let [moved, short] = [0, 0]
    const compare = async (height: number): Promise<void> => {
      const blocks = chain.slice(0, height + 1).map(({ block }) => block)
      const changes = plainBallots(blocks)
      const [first = 0n, last = 0n] = [blocks[0]?.time, blocks.at(-1)?.time]
      const rows = (await ask('get-producer-list', {}, { deps })).producers as readonly Row[]
      for (const producer of height === 0 ? [] : VOTED) {
        const own = changes.filter(change => change.producer === producer)
        const said = await ask('get-producer-votes', { producer }, { deps })
        const week = plainChangeOfWeek(own, last)
        const row = rows.find(({ account }) => account === producer)
        const expected = [seed, height, producer, whole(plainVoteDays(own, first, last)), week]
        expect([seed, height, producer, said, row?.votes_change_7d]).toEqual(expected)
        moved += Number(week !== said.days.at(-1).change)
        short += Number(said.total < 31)
      }
    }
    const runs = chain.map(loaded => [loaded])
    await commitRuns(place.store, runs, { lib: chain.length, onCommitted: compare })
    // During the test the chain grew older than the period that is kept.
    expect([seed, moved > 100, short > 3 && short < 300]).toEqual([seed, true, true])
  })
})

test('get-vote-history: every vote has the balance of votes after it', async () => {
  const ballots = plainBallots(blocks)
  const iost = (units: bigint): string => formatUnits(units, 8)
  expect(new Set(ballots.map(({ producer }) => producer)).size).toBeGreaterThan(3)
  expect(ballots.some(({ voter }) => voter.startsWith('Contract'))).toBe(true)
  for (const account of new Set(ballots.map(({ voter }) => voter))) {
    const own = ballots.filter(({ voter }) => voter === account)
    const expected = own.map(({ height: block, hash: tx_hash, producer, change }, at) => {
      const until = own.slice(0, at + 1)
      const sumOf = (list: typeof own) => iost(list.reduce((sum, each) => sum + each.change, 0n))
      const votes = sumOf(until.filter(each => each.producer === producer))
      return { seq: at + 1, block, tx_hash, producer, change: iost(change), votes, total_votes: sumOf(until) }
    })
    const asked = await ask('get-vote-history', { account, sort: 'asc', size: '500' })
    expect(asked).toMatchObject({ votes: expected, total: own.length })
    const from = own[Math.floor(own.length / 2)]?.height ?? 0
    const part = await ask('get-vote-history', { account, start_block: String(from), size: '500' })
    expect(part.votes).toMatchObject(expected.filter(({ block }) => block >= from).toReversed())
  }
})

const last = blocks.length - 1

const amount = (text: string | undefined): string => formatUnits(toUnits(text ?? '0', 8), 8)

/** Rows computed from the receipts, without any code of `src/derive`. */
function rowsOf(name: string, content: string) {
  // Receipts of user contracts need not be JSON.
  if (!/^(?:token|vote_producer)\.iost\//.test(name)) return []
  const [action_name = '', said] = [name.split('/')[1], JSON.parse(content)]
  const none = { action_name, producer_amount: '0', added_for_voters: '0', taken_by_voters: '0' }
  const [first = '', second = '', third = '', fourth = ''] = Array.isArray(said) ? (said as string[]) : []
  switch (name) {
    case 'token.iost/transfer':
      if (first !== 'iost' || second !== 'bonus.iost') return []
      return [{ ...none, producer: third, action_name: 'exchangeIOST', producer_amount: amount(fourth) }]
    case 'vote_producer.iost/candidateWithdraw':
      return [{ ...none, producer: first, producer_amount: amount(second), added_for_voters: amount(third) }]
    case 'vote_producer.iost/topupVoterBonus':
      return [{ ...none, producer: first, added_for_voters: amount(second) }]
    case 'vote_producer.iost/voterWithdraw':
      return Object.entries(said as Record<string, string>)
        .filter(([, taken]) => toUnits(taken, 8) > 0n)
        .map(([producer, taken]) => ({ ...none, producer, taken_by_voters: amount(taken) }))
    default:
      return []
  }
}

const rewards = blocks.flatMap(({ height, transactions }) =>
  transactions.flatMap(({ hash, receipt }) =>
    (receipt.statusCode === 'SUCCESS' ? receipt.receipts : []).flatMap(({ funcName, content }) =>
      rowsOf(funcName, content).map(row => ({ ...row, block: height, tx_hash: hash })),
    ),
  ),
)
const names = [...new Set(rewards.map(row => row.producer))]

test('get-reward-history: each row of every producer matches a receipt', async () => {
  expect(new Set(rewards.map(row => row.action_name)).size).toBeGreaterThanOrEqual(3)
  for (const producer of names) {
    const own = rewards.filter(row => row.producer === producer)
    const expected = own.map(({ producer: _, ...row }, at) => ({ seq: at + 1, ...row }))
    const said = await ask('get-reward-history', { producer, sort: 'asc', size: '500' })
    expect(said).toMatchObject({ rewards: expected.slice(0, 500), total: own.length })
  }
})

test('readCandidateBonuses: what each producer could withdraw for itself after many blocks matches a replay of the receipts', async () => {
  const plain = voteBonuses()
  const heights = [-1]
  const expected = new Map(names.map(name => [name, [0n]]))
  for (const { height, transactions } of blocks) {
    for (const event of transactions.flatMap(bonusEvents)) plain.apply(event)
    if (height % 97 !== 0 && height < last) continue
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

describe('get-reward-shares', () => {
  const ballots = plainBallots(blocks)
  const random = seeded(2211)
  const producers = [...new Set(ballots.map(({ producer }) => producer))]
  const voters = [...new Set(ballots.map(({ voter }) => voter))]
  const timeOf = (height: number): bigint => blocks[height]?.time ?? 0n
  const cut = (numerator: bigint, denominator: bigint) => formatUnits((numerator * 10n ** 18n) / denominator, 18)

  /** Votes × ns, block by block: the votes of a voter after each block, until the next one. */
  function plainWeight(voter: string, producer: string, [start, end]: readonly [number, number]) {
    const own = ballots.filter(each => each.voter === voter && each.producer === producer)
    const after = (height: number): bigint =>
      own.filter(each => each.height <= height).reduce((sum, { change }) => sum + change, 0n)
    let weight = 0n
    const stops = [start, ...own.map(({ height }) => height).filter(at => at > start && at < end), end]
    for (const [at, from] of stops.slice(0, -1).entries())
      weight += after(from) * (timeOf(stops[at + 1] ?? end) - timeOf(from))
    const isThere = after(start) > 0n || own.some(({ height }) => height > start && height <= end)
    return { voter, first: after(start), last: after(end), weight, isThere }
  }

  test('at random periods: shares match the votes weighted by time', async () => {
    const periods = Array.from({ length: 40 }, (): readonly [number, number] => {
      const [a, b] = [Math.floor(random() * last), Math.floor(random() * last)]
      return a < b ? [a, b] : [b, a + 1]
    })
    const byName = (a: { account: string }, b: { account: string }) => (a.account < b.account ? -1 : 1)
    let changed = 0
    for (const [start, end] of [...periods, [0, last] as const]) {
      const producer = producers[Math.floor(random() * producers.length)] ?? ''
      const range = { start_block: String(start), end_block: String(end) }
      const said = await ask('get-reward-shares', { producer, ...range })
      const expected = voters.map(voter => plainWeight(voter, producer, [start, end])).filter(({ isThere }) => isThere)
      const all = expected.reduce((sum, { weight }) => sum + weight, 0n)
      const length = timeOf(end) - timeOf(start)
      const [seconds, vote_seconds] = [formatUnits(length, 9), formatUnits(all, 17)]
      expect(said).toMatchObject({ start_block: start, end_block: end, seconds, vote_seconds })
      const shares = expected.map(({ voter, first, last, weight }) => ({
        account: voter,
        start_votes: formatUnits(first, 8),
        end_votes: formatUnits(last, 8),
        mean_votes: cut(weight, length * 10n ** 8n),
        vote_seconds: formatUnits(weight, 17),
        share: all === 0n ? '0' : cut(weight, all),
      }))
      expect(said.shares.toSorted(byName)).toEqual(shares.toSorted(byName))
      changed += expected.filter(each => each.first !== each.last).length
    }
    expect(changed).toBeGreaterThan(20)
  })

  test('adjacent periods add up to the whole, also by times', async () => {
    const time = String(timeOf(2_000))
    const sumOf = async (asked: Readonly<Record<string, string>>): Promise<bigint> =>
      toUnits((await ask('get-reward-shares', asked)).vote_seconds, 18)
    for (const producer of producers) {
      const parts = (await sumOf({ producer, end_time: time })) + (await sumOf({ producer, start_time: time }))
      expect([producer, parts]).toEqual([producer, await sumOf({ producer })])
    }
  })
})
