import { beforeAll, expect, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { hashesOf } from './block.ts'
import { createChain } from './chain.ts'
import { userTransactions } from './content.ts'
import { HUB } from './names.ts'
import { COLLECTIONS } from './nfts.ts'
import { type Row, rowsBetween } from './rows.ts'
import { small } from './small.ts'
import { truthAt } from './truth.ts'

type Answered = Readonly<Record<string, unknown>>

const PAGE = 7
const OF_HUB = `module=account&action=get-account-tx&account=${HUB}`

export const chain = createChain(small('mixed'))
/** The hashes of each block's transactions, including the base transaction. */
export const hashes = Array.from({ length: chain.settings.blocks + 1 }, (_, height) => hashesOf(chain.block(height)))
const hashOf = ({ height, position }: Row): string => hashes[height]?.[position] ?? ''

/**
 * Lists of movements, transactions and NFTs of the mixed chain in API answers, compared with the plan of the chain.
 */
export function listSuite(store: () => Store, height = chain.settings.blocks): void {
  const truth = truthAt(chain.world, height)
  const made = [...rowsBetween(chain.world, 0, height, new Set())]
  const selectRows = (key: string): readonly Row[] => made.filter(({ keys }) => keys.includes(key))
  let service: Service
  beforeAll(() => {
    service = serviceOn(store())
  })

  const ask = async (query: string): Promise<string> => {
    const response = await service.ask(`/api/?apikey=${service.key}&${query}`)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${query}: ${response.status} ${text}`)
    return text
  }
  const exportRows = async (query: string): Promise<readonly Answered[]> => {
    const lines = (await ask(`${query}&format=ndjson`)).split('\n').slice(0, -2)
    return lines.map(line => JSON.parse(line) as Answered)
  }
  /** All rows of a list. Checks that its first, middle and last page have the same rows. */
  const rowsOf = async (query: string, list: string): Promise<readonly Answered[]> => {
    const rows = await exportRows(query)
    const last = Math.ceil(rows.length / PAGE)
    for (const page of new Set([1, Math.ceil(last / 2), last, last + 1])) {
      const answer = JSON.parse(await ask(`${query}&format=bare&size=${PAGE}&page=${page}`))
      const wanted = rows.slice((page - 1) * PAGE, page * PAGE)
      expect([query, page, answer.total, answer[list]]).toEqual([query, page, rows.length, wanted])
    }
    return rows
  }
  const timeOf = (height: number): string => toIso(BigInt(chain.timeOf(height)))

  const expectMovements = async (query: string, key: string): Promise<void> => {
    const rows = await rowsOf(query, 'transactions')
    const expected = selectRows(key).map((row, at) => ({
      seq: at + 1,
      action_name: row.action,
      block: String(row.height),
      tx_hash: hashOf(row),
      from: row.from,
      to: row.to,
      created_at: timeOf(row.height),
      index: row.index,
      return: row.returned,
      status_code: row.status,
    }))
    expect(expected.length).toBe(truth.count(key))
    const names = Object.keys(expected[0] ?? {})
    const shown = rows.map(row => Object.fromEntries(names.map(name => [name, row[name]])))
    expect(shown).toEqual(expected.toReversed())
    expect(await exportRows(`${query}&sort=asc`)).toEqual(rows.toReversed())
  }

  test('get-token-tx and get-account-tx have every movement of each token', async () => {
    expect(truth.count(`moved/${HUB}/coin`)).toBeGreaterThan(20)
    for (const token of truth.tokens()) {
      await expectMovements(`module=token&action=get-token-tx&token=${token}`, `token/${token}`)
      await expectMovements(`${OF_HUB}&token=${token}`, `moved/${HUB}/${token}`)
    }
  })

  test('get-account-tx with failed=1 and with func_name has every such row of the account', async () => {
    expect(truth.count(`failed/${HUB}`)).toBeGreaterThan(3)
    await expectMovements(`${OF_HUB}&failed=1`, `failed/${HUB}`)
    const called = truth.keys().filter(key => key.startsWith(`called/${HUB}/`))
    expect(called.length).toBeGreaterThan(1)
    for (const key of called) await expectMovements(`${OF_HUB}&func_name=${key.split('/').slice(2).join('/')}`, key)
  })

  test('get-transaction-list has every transaction except base ones', async () => {
    const rows = await rowsOf('module=base&action=get-transaction-list', 'transactions')
    const expected = hashes
      .slice(0, height + 1)
      .flatMap((own, at) => own.slice(at === 0 ? 0 : 1).map(hash => [hash, String(at), timeOf(at)]))
      .map((row, at) => [at + 1, ...row])
    expect(expected.length).toBe(truth.transactions)
    const shown = rows.map(row => [row['seq'], row['tx_hash'], row['block'], row['created_at']])
    expect(shown).toEqual(expected.toReversed())
    expect(await exportRows('module=base&action=get-transaction-list&sort=asc')).toEqual(rows.toReversed())
  })

  test('every collection has each of its NFTs with its owner, and each of its owners with a count', async () => {
    const own = new Map<string, string[]>(COLLECTIONS.map(collection => [collection, []]))
    const transactions = Array.from({ length: height + 1 }, (_, at) => userTransactions(chain.world, at)).flat()
    for (const { funcName: name, content } of transactions.flatMap(({ receipts }) => receipts)) {
      if (!name.startsWith('token721.iost/')) continue
      const [collection = '', first = '', second = '', id] = JSON.parse(content) as readonly string[]
      if (name.endsWith('/issue')) own.get(collection)?.push(first)
      if (name.endsWith('/transfer')) own.get(collection)?.splice(Number(id), 1, second)
    }
    expect([...own.values()].reduce((sum, owners) => sum + owners.length, 0)).toBeGreaterThan(14)
    for (const [collection, owners] of own) {
      const query = `&collection=${collection}`
      const nfts = await rowsOf(`module=nft&action=get-collection-nfts${query}`, 'nfts')
      expect(nfts.map(row => [row['token_id'], row['owner']])).toEqual(
        owners.map((owner, id) => [String(id), owner]).toReversed(),
      )
      const shares = await rowsOf(`module=nft&action=get-collection-owners${query}`, 'owners')
      const counts = [...Map.groupBy(owners, owner => owner)].map(([account, all]) => ({ account, count: all.length }))
      expect(shares).toEqual(counts.toSorted((a, b) => b.count - a.count || (a.account < b.account ? -1 : 1)))
    }
    const listed = await rowsOf('module=nft&action=get-collection-list', 'collections')
    expect(listed.map(row => [row['collection'], row['issued'], row['owner_count']])).toEqual(
      [...own]
        .toSorted(([, a], [, b]) => b.length - a.length)
        .map(([collection, owners]) => [collection, owners.length, new Set(owners).size]),
    )
  })
}
