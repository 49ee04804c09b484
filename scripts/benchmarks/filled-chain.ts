import { Buffer } from 'node:buffer'
import { encodeBase58 } from '#chain/base58.ts'
import { hash8, hashBytes, merkleRoot } from '#chain/hash.ts'
import { type BalanceDoc, balanceId } from '#indices/balance.ts'
import type { BlockDoc } from '#indices/block.ts'
import { type ListDoc, listOf, placeOf } from '#indices/list.ts'
import { blockId, recordId, transactionId } from '#indices/position.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import { base58Of32 } from '#test/generator/base58.ts'
import { mix } from '#test/generator/random.ts'

/**
 * A chain of transfers by formula, for measuring on stores of any size: one row a transaction, `ROWS_PER_BLOCK` a block.
 * What any page of the hub, of the contract or of the holders shows can be said without having it stored.
 */
export const ROWS_PER_BLOCK = 100
/** In one row of each four: its list is the long one of an account. */
export const HUB = 'busyhub'
export const CONTRACT = 'token.iost'
export const ACTION = 'transfer'
const HUB_EVERY = 4
const SEED = 7
const START = 1_700_000_000_000_000_000n
const BLOCK_NS = 500_000_000n

/** Streams of `mix`. */
const HASH = 1
const HUB_AT = 2
const FROM = 3
const TO = 4
const AMOUNT = 5
const HUB_SIDE = 6

export const heightOfRow = (row: number): number => 1 + Math.floor(row / ROWS_PER_BLOCK)
const timeOf = (height: number): bigint => START + BigInt(height) * BLOCK_NS

const bytes = Buffer.alloc(32)
/** Hash of anything that has a number: 32 bytes of chance as base58. */
const hashOf = (stream: number, number: number): string => {
  for (let word = 0; word < 8; word++)
    bytes.writeUInt32BE(mix(SEED, HASH + 100 * stream, number, word), word * 4)
  return base58Of32(bytes)
}
/** Hash of the transaction of a row. */
export const hashOfRow = (row: number): string => hashOf(0, row)
const baseHash = (height: number): string => hashOf(1, height)
const blockHash = (height: number): string => hashOf(2, height)

/** Row of the hub's list with an ordinal from 1. */
export const hubRow = (ordinal: number): number => {
  const group = ordinal - 1
  return group * HUB_EVERY + (mix(SEED, HUB_AT, group) % HUB_EVERY)
}
const isHubRow = (row: number): boolean => hubRow(Math.floor(row / HUB_EVERY) + 1) === row

/** Accounts besides the hub: the r-th is in a row with a probability near 1 ÷ (r + 1). */
const accountsFor = (rows: number): number => Math.max(50, Math.min(20_000, Math.floor(rows / 100)))
const zipf = (stream: number, row: number, accounts: number): number => {
  const unit = mix(SEED, stream, row) / 2 ** 32
  return Math.min(accounts - 1, Math.floor(Math.exp(unit * Math.log(accounts + 1))) - 1)
}
const names: string[] = []
const accountName = (rank: number): string => {
  names[rank] ??= `acc${rank.toString(36).padStart(5, '0')}`
  return names[rank]
}

type Transfer = { readonly from: string; readonly to: string; readonly amount: string; readonly data: string }
const transferOf = (row: number, accounts: number): Transfer => {
  const left = zipf(FROM, row, accounts)
  const right = zipf(TO, row, accounts)
  let from = accountName(left)
  let to = accountName(left === right ? (right + 1) % accounts : right)
  if (isHubRow(row)) {
    if (mix(SEED, HUB_SIDE, row) % 2 === 0) from = HUB
    else to = HUB
  }
  const units = mix(SEED, AMOUNT, row)
  const amount = `${units >>> 20}.${String(units & 0xfffff).padStart(7, '0')}1`
  return { from, to, amount, data: `["iost","${from}","${to}","${amount}","n${units % 1_000_003}"]` }
}

/** The node's object of a transfer, as in the recording. */
const bodyOf = (row: number, hash: string, { from, data }: Transfer): string => {
  const time = timeOf(heightOfRow(row))
  const escaped = JSON.stringify(data)
  return (
    `{"hash":"${hash}","time":"${time - 700_000_000n}","expiration":"${time + 90_000_000_000n}","gas_ratio":1,` +
    '"gas_limit":300000,"delay":"0","chain_id":1020,' +
    `"actions":[{"contract":"${CONTRACT}","action_name":"${ACTION}","data":${escaped}}],"signers":[],` +
    `"publisher":"${from}","referred_tx":"","amount_limit":[{"token":"*","value":"unlimited"}],` +
    `"tx_receipt":{"tx_hash":"${hash}","gas_usage":${7_500 + (mix(SEED, AMOUNT, row, 1) % 2_000)},"ram_usage":{},` +
    '"status_code":"SUCCESS","message":"","returns":["[]"],' +
    `"receipts":[{"func_name":"${CONTRACT}/${ACTION}","content":${escaped}}]}}`
  )
}

const rootOf = (hashes: readonly string[]): string =>
  encodeBase58(merkleRoot(hashes.flatMap(hash => hashBytes(hash) ?? [])))

const WITNESS = '6sNQa7PV2SFzqCBtQUcQYJGGoU7XaB6R4xuCQVXNZe6b'

/** A block with these transactions besides its base one; block 0 has none at all. */
export const blockWith = (height: number, hashes: readonly string[]): BlockDoc => {
  const hash = blockHash(height)
  const base = height === 0 ? undefined : baseHash(height)
  const all = [...(base === undefined ? [] : [base]), ...hashes]
  return {
    id: blockId(height),
    height,
    hash,
    hash8: hash8(hash),
    version: '1',
    parent_hash: blockHash(height - 1),
    tx_merkle_hash: rootOf(all),
    tx_receipt_merkle_hash: hashOf(4, height),
    witness: WITNESS,
    witness_account: 'producer000',
    time: timeOf(height),
    gas_usage: BigInt(hashes.length * 850_000),
    tx_count: all.length,
    info: '{}',
    orig_info: '',
    tx_hashes: all.join(' '),
    ...(base === undefined
      ? {}
      : {
          base: JSON.stringify({ c: 1_020, w: WITNESS, g: '0', t: 'producer000', a: '3.28513441' }),
          base_hash8: hash8(base),
        }),
  }
}

export type Filled = {
  readonly block: BlockDoc
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
}

type Counts = Map<string, { readonly number: number; count: number }>

/** The next place of a list. */
const nextPlace = (counts: Counts, key: string): bigint => {
  let list = counts.get(key)
  if (list === undefined) {
    list = { number: counts.size + 1, count: 0 }
    counts.set(key, list)
  }
  list.count += 1
  return placeOf(list.number, list.count)
}

const OF_ALL_ROWS = [listOf.contract(CONTRACT), listOf.action(CONTRACT, ACTION)]

/** Blocks 0 … of a chain with `rows` rows in all, one after the other; `lists` as of the last one taken. */
export const filledBlocks = (rows: number) => {
  const accounts = accountsFor(rows)
  const counts: Counts = new Map()
  const record = (row: number, hash: string, { from, to, amount, data }: Transfer): RecordDoc => {
    const height = heightOfRow(row)
    const tx = 1 + (row % ROWS_PER_BLOCK)
    const keys = [listOf.account(from), listOf.account(to), ...OF_ALL_ROWS]
    return {
      id: recordId(height, tx, 0),
      height,
      tx,
      index: 0,
      tx_hash: hash,
      time: timeOf(height),
      contract: CONTRACT,
      action_name: ACTION,
      data,
      return: '[]',
      status_code: 'SUCCESS',
      from,
      to,
      amount,
      overflow: false,
      places: keys.map(key => nextPlace(counts, key)),
    }
  }
  const block = (height: number): Filled => {
    const transactions: TransactionDoc[] = []
    const records: RecordDoc[] = []
    const first = (height - 1) * ROWS_PER_BLOCK
    for (let row = Math.max(first, 0); row < Math.min(first + ROWS_PER_BLOCK, rows); row++) {
      const hash = hashOfRow(row)
      const transfer = transferOf(row, accounts)
      const tx = 1 + (row - first)
      const id = transactionId(height, tx)
      transactions.push({ id, height, tx, hash, hash8: hash8(hash), body: bodyOf(row, hash, transfer) })
      records.push(record(row, hash, transfer))
    }
    return {
      block: blockWith(
        height,
        transactions.map(({ hash }) => hash),
      ),
      transactions,
      records,
    }
  }
  return {
    last: heightOfRow(rows - 1),
    block,
    /** One row by itself, with places as if it were the next one. */
    record: (row: number): RecordDoc => record(row, hashOfRow(row), transferOf(row, accounts)),
    lists: (): readonly ListDoc[] =>
      [...counts].map(([id, { number, count }]) => ({ id, number, count, starts: [[0, 1]] })),
  }
}

/** A balance of the token of many holders. */
export const holderDoc = (
  token: string,
  { name, amount }: { readonly name: string; readonly amount: bigint },
): BalanceDoc => ({
  id: balanceId(token, name),
  token,
  owner: name,
  amount,
  frozen: 0n,
  frozen_list: [],
})
