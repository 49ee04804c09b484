import { describe, expect, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { toIso } from '#chain/time.ts'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainBallots } from '#test/support/oracle/plain-ballots.ts'
import { plainChangeOfWeek, plainVoteDays, voteChanges } from '#test/support/oracle/plain-votes.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
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
        votes: fromUnits(votesOf(account), 8),
        // All recorded votes were cast on the last day.
        votes_change_7d: fromUnits(votesOf(account), 8),
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
    for (const [sort, rows] of [
      ['desc', whole],
      ['asc', whole.toReversed()],
    ] as const)
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
    expect(listed.filter(({ alias }) => alias !== '')).toMatchObject([
      { account: 'prod_01', alias: '节点', alias_en: 'Node' },
    ])
  })
})

test('get-producer-registration: every producer with votes is in the table, or names the block in which it was unregistered', async () => {
  /** The last block in which each producer was unregistered, read from the receipts. */
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
    const changes = voteChanges(blocks)
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
    const { store, destroy } = await temporarySqlite()
    const deps = { store }
    let [moved, short] = [0, 0]
    const compare = async (height: number): Promise<void> => {
      const blocks = chain.slice(0, height + 1).map(({ block }) => block)
      const changes = voteChanges(blocks)
      const [first = 0n, last = 0n] = [blocks[0]?.time, blocks.at(-1)?.time]
      const rows = (await ask('get-producer-list', {}, { deps })).producers as readonly Row[]
      for (const producer of height === 0 ? [] : VOTED) {
        const own = changes.filter(change => change.producer === producer)
        const said = await ask('get-producer-votes', { producer }, { deps })
        const week = plainChangeOfWeek(own, last)
        const row = rows.find(({ account }) => account === producer)
        expect([seed, height, producer, said, row?.votes_change_7d]).toEqual([
          seed,
          height,
          producer,
          whole(plainVoteDays(own, first, last)),
          week,
        ])
        moved += Number(week !== said.days.at(-1).change)
        short += Number(said.total < 31)
      }
    }
    const runs = chain.map(loaded => [loaded])
    await commitRuns(store, runs, { lib: chain.length, onCommitted: compare })
    await destroy()
    // During the test the chain grew older than the period that is kept.
    expect([seed, moved > 100, short > 3 && short < 300]).toEqual([seed, true, true])
  })
})

test('get-vote-history: every vote has the balance of votes after it', async () => {
  const ballots = plainBallots(blocks)
  const iost = (units: bigint): string => fromUnits(units, 8)
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
