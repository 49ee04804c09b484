import { Database } from 'bun:sqlite'
import { parseArgs } from 'node:util'
import { foundTree } from '#derive/segment-tree.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { lists } from '#indices/list.ts'
import { type Change, DERIVATION } from '#indices/registry.ts'
import { SEGMENT_SIZES, segments } from '#indices/segment.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import type { Batch, Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { blockWith, CONTRACT, type Filled, filledBlocks, hashOfRow, holderDoc } from './filled-chain.ts'
import { DECIMAL, holdersOf, scattered, TOKEN } from './holders.ts'

/**
 * Fills a store with the chain of `filled-chain.ts` through its own writer, as a process of its own:
 * `fill.ts --store sqlite:PATH|URL/PREFIX --rows N --holders N`. Prints how long it took, as JSON.
 */

/** Blocks of one batch: some 40,000 documents, 30 MB. */
const BLOCKS = 200

type Doc = Batch['blocks'][number]

const genesisThings = (holders: number, rows: number): readonly Change[] => {
  const genesis = blockWith(0, [])
  const born = { height: 0, time: genesis.time, tx_hash: hashOfRow(0) }
  const token = (symbol: string, holder_count: number): Change => ({
    index: tokens,
    doc: {
      id: symbol,
      symbol,
      full_name: symbol,
      issuer: 'issue.iost',
      decimal: DECIMAL,
      total_supply: 9_000_000_000_000_000_000n,
      current_supply: 2_100_000_000_000_000_000n,
      can_transfer: true,
      only_issuer_can_transfer: false,
      holder_count,
      ...born,
    },
  })
  return [
    token(TOKEN, holders),
    token('iost', 0),
    {
      index: contracts,
      doc: {
        id: CONTRACT,
        contract: CONTRACT,
        publisher: 'deadaddr',
        owner: '',
        system: true,
        version: '1.0.0',
        language: 'native',
        abis: [],
        ...born,
      },
    },
    {
      index: statistics,
      doc: {
        id: STATISTICS,
        account_count: holders,
        contract_count: 1,
        token_count: 2,
        wealth_count: 0,
        list_count: 0,
        pledge_seq: 0,
        transaction_count: rows,
        record_count: rows,
        highest_tps: 200,
        tps_second: 0,
        tps_count: 0,
        ram: { left: '0', used: '0', balance: '0' },
        versions: [],
        genesis_publisher: 'deadaddr',
        genesis_tx: born.tx_hash,
        genesis_time: String(genesis.time),
      },
    },
  ]
}

/** The segments as derivation makes them when it first counts a large ranking. */
const segmentChanges = (holders: ReturnType<typeof holdersOf>): readonly Change[] => {
  const made = new Map<string, Change>()
  const members = Array.from({ length: holders.count }, (_, rank) => holders.standing(rank))
  const ranking = { index: balances, order: 'holders', group: TOKEN }
  if (holders.count <= SEGMENT_SIZES.members) return []
  foundTree(
    {
      get: () => undefined,
      put: (index, doc) => void made.set(doc.id, { index, doc } as Change),
      members: () => members,
    },
    ranking,
    SEGMENT_SIZES,
  )
  return [...made.values()].filter(({ index }) => index === segments)
}

/**
 * A tree of ten million hashes in no order is quicker made at once, at the end, than row by row: the index waits. Gives
 * back what makes it.
 */
const withoutIndex = (path: string, name: string): (() => void) => {
  const change = (work: (db: Database) => void): void => {
    const db = new Database(path)
    db.run('PRAGMA cache_size = -500000')
    work(db)
    db.close()
  }
  let sql = ''
  change(db => {
    const row = db.query('SELECT sql FROM sqlite_schema WHERE name = ?').get(name) as { sql: string }
    sql = row.sql
    db.run(`DROP INDEX "${name}"`)
  })
  return () => change(db => db.run(sql))
}

const fill = async (store: Store, rows: number, count: number) => {
  const chain = filledBlocks(rows)
  const holders = holdersOf(count)
  const batches = Math.ceil((chain.last + 1) / BLOCKS)
  await store.create()
  const writer = await store.takeOver({
    chainId: 1_020,
    genesis: blockWith(0, []).hash,
    derivation: DERIVATION,
  })
  const path = store.name.startsWith('sqlite:') ? store.name.slice('sqlite:'.length) : undefined
  const finish = path === undefined ? () => {} : withoutIndex(path, 'transactions.hash8')
  let documents = 0
  let committing: Promise<void> | undefined
  for (let batch = 0; batch < batches; batch++) {
    const first = batch * BLOCKS
    const made: Filled[] = []
    for (let height = first; height <= Math.min(chain.last, first + BLOCKS - 1); height++)
      made.push(chain.block(height))
    const blocks: readonly Doc[] = made.map(({ block }) => block)
    const end = blocks.at(-1)
    if (end === undefined) break
    const changes: Change[] = []
    const part = (at: number): number => Math.floor((at * count) / batches)
    for (let n = part(batch); n < part(batch + 1); n++)
      changes.push({ index: balances, doc: holderDoc(TOKEN, holders.standing(scattered(n, count))) })
    if (batch === batches - 1) {
      changes.push(...genesisThings(count, rows), ...segmentChanges(holders))
      for (const doc of chain.lists()) changes.push({ index: lists, doc })
    }
    const transactions = made.flatMap(each => each.transactions)
    const records = made.flatMap(each => each.records)
    documents += blocks.length + transactions.length + records.length
    await committing
    committing = writer.commit({
      first,
      end: { height: end.height, hash: end.hash, time: end.time, lib: end.height },
      blocks,
      transactions,
      records,
      filling: { partition: 0, documents },
      changes,
    })
    committing.catch(() => undefined)
  }
  await committing
  finish()
  await writer.release()
  return documents + count
}

const { values } = parseArgs({
  options: { store: { type: 'string' }, rows: { type: 'string' }, holders: { type: 'string' } },
})
const name = values.store ?? ''
const slash = name.lastIndexOf('/')
const store = name.startsWith('sqlite:')
  ? openSqlite({ path: name.slice('sqlite:'.length) })
  : openElastic({ url: name.slice(0, slash), prefix: name.slice(slash + 1) })
const start = performance.now()
const documents = await fill(store, Number(values.rows), Number(values.holders))
await store.close()
console.log(JSON.stringify({ documents, seconds: (performance.now() - start) / 1_000 }))
