import { Database } from 'bun:sqlite'
import { parseArgs } from 'node:util'
import { foundTree } from '#derive/segment-tree.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { lists } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { type Change, DERIVATION, type HistoryIndex } from '#indices/registry.ts'
import { SEGMENT_SIZES, segments } from '#indices/segment.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { transactions } from '#indices/transaction.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { namesOf } from '#store/elastic/schema/names.ts'
import type { Batch, Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { bodiesOf, type Elastic, elasticAt, sendBodies, sourceOf } from './elastic.ts'
import { blockWith, CONTRACT, type Filled, filledBlocks, hashOfRow, holderDoc } from './filled-chain.ts'
import { DECIMAL, holdersOf, scattered, TOKEN } from './holders.ts'

/**
 * Fills a store with the chain of `filled-chain.ts`, as a process of its own; its writer publishes it:
 * `fill.ts --store sqlite:PATH|URL/PREFIX --rows N --holders N`. Prints how long it took, as JSON.
 */

/** Nobody else wants it, and a busy machine may keep this process from saying that it lives. */
const LEASE_MS = 300_000

/** Blocks of one batch: some 40,000 documents, 30 MB. */
const BLOCKS = 200

const genesis = blockWith(0, [])
const BORN = { height: 0, time: genesis.time, tx_hash: hashOfRow(0) }

const tokenOf = (symbol: string, holder_count: number): Change => ({
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
    ...BORN,
  },
})

const contract: Change = {
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
    ...BORN,
  },
}

const statisticsOf = (holders: number, rows: number): Change => ({
  index: statistics,
  doc: {
    id: STATISTICS,
    account_count: holders,
    contract_count: 1,
    token_count: 2,
    producer_count: 0,
    producer_votes: 0n,
    candidate_votes: 0n,
    votes_told: false,
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
    genesis_tx: BORN.tx_hash,
    genesis_time: String(genesis.time),
  },
})

const genesisThings = (holders: number, rows: number): readonly Change[] => [
  tokenOf(TOKEN, holders),
  tokenOf('iost', 0),
  contract,
  statisticsOf(holders, rows),
]

/** The segments as derivation makes them when it first counts a large ranking. */
const segmentChanges = (holders: ReturnType<typeof holdersOf>): readonly Change[] => {
  const made = new Map<string, Change>()
  const members = Array.from({ length: holders.count }, (_, rank) => holders.standing(rank))
  const ranking = { index: balances, order: 'holders', group: TOKEN }
  if (holders.count <= SEGMENT_SIZES.group) return []
  foundTree(
    {
      get: () => undefined,
      put: (index, doc) => void made.set(doc.id, { index, doc } as Change),
      add: () => undefined,
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

/** How the rows and transactions of some blocks get into a store before those blocks are committed. */
type Ahead = (part: Pick<Batch, 'transactions' | 'records'>) => Promise<void>

/**
 * Into Elasticsearch rows go as raw bulks of what its writer would write, and are made searchable once: the batches
 * that follow have the blocks and all state. The writer holds the store, so nobody takes them for leftovers.
 */
const aheadOf = (elastic: Elastic, prefix: string) => {
  const names = namesOf(prefix)
  const bodies = (index: HistoryIndex, docs: readonly { readonly id: string }[]) =>
    bodiesOf(
      names.partition(index, 0),
      docs.map(doc => ({ id: doc.id, source: sourceOf(index, doc) })),
    )
  const send: Ahead = async ({ transactions: many, records: rows }) => {
    await sendBodies(elastic, [...bodies(transactions, many), ...bodies(records, rows)])
  }
  const refresh = async (): Promise<void> => {
    await elastic.send('POST', `/${names.history(transactions)},${names.history(records)}/_refresh`)
  }
  return { send, refresh }
}

type Filling = {
  readonly store: Store
  readonly rows: number
  readonly holders: number
  /** When the store is taken over: until then it has to be whole. */
  readonly begin?: () => void
  readonly ahead?: Ahead
  /** Before the last batch is committed: it publishes the counts. */
  readonly finish?: () => Promise<void>
}

const fill = async ({ store, rows, holders: count, begin, ahead, finish }: Filling): Promise<number> => {
  const chain = filledBlocks(rows)
  const holders = holdersOf(count)
  const writer = await store.takeOver({
    chainId: 1_020,
    genesis: blockWith(0, []).hash,
    derivation: DERIVATION,
  })
  begin?.()
  const batches = Math.ceil((chain.last + 1) / BLOCKS)
  let documents = 0
  let writing: Promise<void> = Promise.resolve()
  for (let batch = 0; batch < batches; batch++) {
    const first = batch * BLOCKS
    const made: Filled[] = []
    for (let height = first; height <= Math.min(chain.last, first + BLOCKS - 1); height++)
      made.push(chain.block(height))
    const blocks = made.map(({ block }) => block)
    const end = blocks.at(-1)
    if (end === undefined) break
    const changes: Change[] = []
    const part = (at: number): number => Math.floor((at * count) / batches)
    for (let n = part(batch); n < part(batch + 1); n++)
      changes.push({ index: balances, doc: holderDoc(TOKEN, holders.standing(scattered(n, count))) })
    const isLast = batch === batches - 1
    if (isLast) {
      changes.push(...genesisThings(count, rows), ...segmentChanges(holders))
      for (const doc of chain.lists()) changes.push({ index: lists, doc })
    }
    const history = {
      transactions: made.flatMap(each => each.transactions),
      records: made.flatMap(each => each.records),
    }
    documents += blocks.length + history.transactions.length + history.records.length
    const filling = { partition: 0, documents }
    const write = async (): Promise<void> => {
      await ahead?.(history)
      if (isLast) await finish?.()
      const rest = ahead === undefined ? history : { transactions: [], records: [] }
      const { height, hash, time } = end
      await writer.append({ blocks, ...rest, filling })
      await writer.commit({ end: { height, hash, time, lib: height }, changes })
    }
    // The next batch is made while this one is written.
    await writing
    writing = write()
    writing.catch(() => undefined)
  }
  await writing
  await writer.release()
  return documents + count
}

/** Opens the store of a name and fills it. */
const fillStore = async (name: string, rows: number, holders: number): Promise<number> => {
  const what = { rows, holders }
  if (name.startsWith('sqlite:')) {
    const path = name.slice('sqlite:'.length)
    const store = openSqlite({ path })
    await store.create()
    let restore = (): void => {}
    const begin = (): void => {
      restore = withoutIndex(path, 'transactions.hash8')
    }
    const documents = await fill({ store, ...what, begin })
    await store.close()
    restore()
    return documents
  }
  const slash = name.lastIndexOf('/')
  const [url, prefix] = [name.slice(0, slash), name.slice(slash + 1)]
  const { send, refresh } = aheadOf(elasticAt(url), prefix)
  const store = openElastic({ url, prefix, leaseMs: LEASE_MS })
  await store.create()
  const documents = await fill({ store, ...what, ahead: send, finish: refresh })
  await store.close()
  return documents
}

const { values } = parseArgs({
  options: { store: { type: 'string' }, rows: { type: 'string' }, holders: { type: 'string' } },
})
const start = performance.now()
const documents = await fillStore(values.store ?? '', Number(values.rows), Number(values.holders))
console.log(JSON.stringify({ documents, seconds: (performance.now() - start) / 1_000 }))
