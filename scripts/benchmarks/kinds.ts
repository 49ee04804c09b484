import type { Chain } from './chains.ts'
import { SIZE } from './floors.ts'
import { askSide, type Side } from './sides.ts'

/** A kind of request, at several positions in its data. */
export type Kind = {
  readonly name: string
  /** Numbers of concurrent clients. */
  readonly clients: readonly number[]
  /** Queries by the position or part that they read. */
  readonly queries: Readonly<Record<string, readonly string[]>>
}

/** Maximum number of different requests of a kind; more would only fill the client's memory. */
const MOST = 1_000

/** A prime, so that its multiples visit all numbers below `count` exactly once, in a scattered order. */
const STRIDE = 7_368_787
/** The n-th of `count` items in a scattered order without repetition. */
const scattered = (n: number, count: number): number => (n * STRIDE + 12_345) % count

type Paged = { readonly data: { readonly total: number } }
type Transactions = { readonly data: { readonly transactions: readonly { readonly tx_hash: string }[] } }

/**
 * Pages of long lists and of a ranking, and transactions by hash. A quick run reads only random pages, and fewer lists.
 */
export const kindsFor = async (side: Side, { hub, token }: Chain, isQuick: boolean): Promise<readonly Kind[]> => {
  const pages = async (name: string, query: string, clients: readonly number[]): Promise<Kind> => {
    const { data } = JSON.parse(await askSide(side, `${query}&size=1`)) as Paged
    const last = Math.ceil(data.total / SIZE)
    const quarter = Math.max(1, last >> 2)
    const queries = (page: (n: number) => number) =>
      Array.from({ length: Math.min(MOST, last) }, (_, n) => `${query}&size=${SIZE}&page=${page(n)}`)
    const random = { 'random pages': queries(n => 1 + scattered(n, last)) }
    if (isQuick) return { name, clients, queries: random }
    return {
      name,
      clients,
      queries: {
        'first page': queries(() => 1),
        'middle pages': queries(n => (last >> 1) + (n % quarter)),
        'last pages': queries(n => last - (n % quarter)),
        ...random,
      },
    }
  }
  const few = isQuick ? [8] : [1, 8]
  const rows = (name: string, query: string) => pages(`rows of ${name}`, query, [1, 8, 64])
  const contract = 'module=contract&action=get-contract-tx&contract=token.iost'
  return [
    await rows(hub, `module=account&action=get-account-tx&account=${hub}`),
    ...(isQuick ? [] : [await rows('token.iost', contract)]),
    await pages(`holders of ${token}`, `module=token&action=get-token-holder&token=${token}`, few),
    { name: 'a transaction', clients: few, queries: { 'by hash': await hashQueries(side) } },
  ]
}

/** Hashes of transactions from all parts of the chain, each used once. */
const hashQueries = async (side: Side): Promise<readonly string[]> => {
  const list = 'module=base&action=get-transaction-list'
  const { total } = (JSON.parse(await askSide(side, `${list}&size=1`)) as Paged).data
  const pages = Math.ceil(total / SIZE)
  const hashes = new Set<string>()
  for (let n = 0; n < Math.min(pages, MOST / SIZE); n++) {
    const text = await askSide(side, `${list}&size=${SIZE}&page=${1 + scattered(n, pages)}`)
    for (const { tx_hash } of (JSON.parse(text) as Transactions).data.transactions) hashes.add(tx_hash)
  }
  return [...hashes].map(hash => `module=transaction&action=get-transaction-detail&tx_hash=${hash}`)
}
