import { accounts } from '#indices/account.ts'
import { type BalanceDoc, balanceId, balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { days } from '#indices/day.ts'
import { lists } from '#indices/list.ts'
import { pledgeId, pledges } from '#indices/pledge.ts'
import { type ProducerDoc, producerKeys, producers } from '#indices/producer.ts'
import type { StateChange } from '#indices/registry.ts'
import { resources } from '#indices/resource.ts'
import { segments, segmentsId } from '#indices/segment.ts'
import { series } from '#indices/series.ts'
import { memberId } from '#indices/standing.ts'
import { statistics } from '#indices/statistics.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { tokenDayId, tokenDays } from '#indices/token-day.ts'
import { collectionOwners, collections, holdings, itemId, items } from '#indices/token721.ts'
import { transactionRuns } from '#indices/transaction-run.ts'
import { voteId, votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import { MAX, MIN, statisticsDoc } from './fixture.ts'

export const balanceDoc = (token: string, owner: string, over: Partial<BalanceDoc> = {}): BalanceDoc => ({
  id: balanceId(token, owner),
  token,
  owner,
  amount: 0n,
  frozen: 0n,
  frozen_list: [],
  ...over,
})

export const tokenDoc = (symbol: string, over: Partial<TokenDoc> = {}): TokenDoc => ({
  id: symbol,
  symbol,
  full_name: symbol,
  issuer: 'issuer',
  decimal: 8,
  total_supply: 1n,
  current_supply: 1n,
  can_transfer: true,
  only_issuer_can_transfer: false,
  holder_count: 0,
  height: 0,
  time: 0n,
  tx_hash: 'tx',
  ...over,
})

export const producerDoc = (account: string, over: Partial<ProducerDoc> = {}): ProducerDoc => ({
  id: account,
  account,
  registered: true,
  pubkey: 'key',
  loc: '',
  url: '',
  net_id: '',
  is_producer: true,
  status: 1,
  online: true,
  votes: 0n,
  opening_votes: [],
  voter_count: 0,
  block_count: 0,
  received_award: 0n,
  payouts: [],
  ...over,
})

const BIG = Number.MAX_SAFE_INTEGER

/** A document of every state index: int64 and safe-integer extremes, empty and nested JSON, unusual names. */
export const samples: readonly StateChange[] = [
  {
    index: accounts,
    doc: {
      id: 'alice',
      name: 'alice',
      creator: '',
      height: BIG,
      time: MAX,
      tx_hash: 'tx',
      permissions: [
        {
          name: '__proto__',
          group_names: ['constructor', ''],
          items: [{ id: 'key', is_key_pair: true, weight: '9223372036854775807', permission: '' }],
          threshold: '1',
        },
      ],
      groups: [],
    },
  },
  { index: balances, doc: balanceDoc('iost', 'alice', { amount: MAX, frozen: MIN, next_due: MAX }) },
  {
    index: balances,
    doc: balanceDoc('iost', 'bob', { frozen_list: [['9007199254740993', '1800000000000000001']] }),
  },
  {
    index: contracts,
    doc: {
      id: 'Contract1',
      contract: 'Contract1',
      publisher: 'alice',
      owner: '',
      system: false,
      version: '1.0.0',
      language: 'javascript',
      abis: [{ name: 'f', args: ['string'], amount_limit: [{ token: '*', value: 'unlimited' }] }],
      height: 0,
      time: 0n,
      tx_hash: '',
      code_at: [BIG, 0, 1],
    },
  },
  {
    index: days,
    doc: {
      id: '2026-11-21',
      blocks: BIG,
      transactions: 0,
      failed: 0,
      actions: 0,
      movements: 0,
      new_accounts: 0,
      new_contracts: 0,
      gas_usage: MAX,
      iost_moved: '123456789012345678901234567890',
      ram_fees: MIN,
      ram: { left: '1e+21', used: '0', balance: '0.1' },
      votes: -1n,
      highest_tps: 1,
    },
  },
  {
    index: series,
    doc: {
      id: '#3/iost/__proto__',
      part: BIG,
      first: 1,
      count: 0,
      height: 0,
      opening: ['9223372036854775807', '-1', '', '%2C'],
      gained: '123456789012345678901234567890',
      lost: '0',
      gains: BIG,
      losses: 0,
      entries: ',,0,-5;3,2,f1,7,1800000000000000001;9,,b4,330000000;',
    },
  },
  { index: lists, doc: { id: 'account/x', number: 2 ** 31 - 1, count: 2 ** 32 - 1, starts: [[0, 1]] } },
  {
    index: pledges,
    doc: { id: pledgeId('a', 'b'), pledger: 'a', beneficiary: 'b', amount: 2n ** 53n + 1n, seq: BIG },
  },
  {
    index: producers,
    doc: producerDoc('producer', {
      url: 'https://producer.example/?a=1&b="2"',
      is_producer: false,
      status: 3,
      votes: MIN,
      opening_votes: [[20_000, '-9223372036854775808']],
      block_count: BIG,
      received_award: -1n,
      payouts: [[20_000, '9223372036854775807']],
    }),
  },
  { index: producerKeys, doc: { id: 'key', account: '' } },
  {
    index: resources,
    doc: {
      id: 'alice',
      gas_pledge: MAX,
      gas_limit: MIN,
      gas_stock: -1n,
      gas_updated: 0n,
      ram_used: 2n ** 53n + 1n,
      ram_total: -(2n ** 53n) - 1n,
    },
  },
  {
    index: segments,
    doc: {
      id: segmentsId('balances', 0, 'iost'),
      segments: [
        ['', '', 0, 1],
        [String(MAX), '__proto__', BIG, 2],
      ],
    },
  },
  { index: statistics, doc: statisticsDoc({ transaction_count: BIG }) },
  { index: tokens, doc: tokenDoc('iost', { total_supply: MAX, current_supply: MIN }) },
  {
    index: tokenDays,
    doc: {
      id: tokenDayId('__proto__', '2026-11-21'),
      transfers: BIG,
      volume: '123456789012345678901234567890',
    },
  },
  {
    index: collections,
    doc: {
      ...{ id: 'c', symbol: 'c', issuer: '__proto__', total_supply: MAX, issued: BIG, owner_count: BIG },
      ...{ height: BIG, time: MAX, tx_hash: 'h' },
    },
  },
  {
    index: items,
    doc: {
      ...{ id: itemId('c', '0'), owner: '__proto__', metadata: '{"hp":1}', height: BIG, time: MAX },
      tx_hash: '',
    },
  },
  {
    index: holdings,
    doc: { id: memberId('o', itemId('c', '0')), owner: 'o', item: itemId('c', '0'), since: BIG, count: BIG },
  },
  {
    index: collectionOwners,
    doc: { id: memberId('c', '__proto__'), collection: 'c', owner: '__proto__', count: BIG },
  },
  { index: transactionRuns, doc: { id: '12345', blocks: [BIG, 1, 256, 0, 0, 0] } },
  { index: votes, doc: { id: voteId('p', 'v'), producer: 'p', voter: 'v', votes: MAX } },
  { index: wealth, doc: { id: 'w', owner: 'w', total: MAX, token: MIN, vote: -1n, frozen: 0n } },
]

/** Texts that some stores changed: control characters, NUL, line separators, right-to-left text, long texts. */
export const oddTexts: readonly string[] = [
  '',
  ' ',
  'a\u0000b\u0000',
  '\u0001\u001f\u007f\u0085',
  'line\r\nline\u2028\u2029',
  '😀👩‍👩‍👧‍👦 日本語 ßſK',
  '\u202eright to left \u05d0\u05d1',
  '\ufeffmark \ufffd \uffff',
  '"\\u0000\\ud800\' ; DROP TABLE tokens; --',
  '{"a":1}',
  '1e400',
  '[9007199254740993]',
  'é e\u0301',
  'x'.repeat(60_000),
  '€😀'.repeat(9_000),
]

/** Names that exist on the chain, and names that are dangerous where ids become keys, paths or patterns. */
export const oddIds: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  '12345',
  '0',
  '-1',
  '_id',
  'a/b',
  'a b%2F?&#',
  '../x',
  'A',
  'a',
  'ü',
  `${'x'.repeat(200)}`,
]
