import type { Chain } from './chains.ts'
import { SIZE } from './floors.ts'
import { askSide, type Side } from './sides.ts'

/** A kind of request, at several places of what it reads. */
export type Kind = {
  readonly name: string
  /** Numbers of clients that ask at once. */
  readonly clients: readonly number[]
  /** Queries by what they ask for. */
  readonly queries: Readonly<Record<string, readonly string[]>>
}

/** Different requests of a kind; more would only fill the client's memory. */
const MOST = 1_000

/** A prime: its multiples go through all numbers below `count` once, in no order, whatever the count. */
const STRIDE = 7_368_787
/** The n-th of `count` things in an order that looks like chance and repeats none. */
const scattered = (n: number, count: number): number => (n * STRIDE + 12_345) % count

type Paged = { readonly data: { readonly total: number } }
type Transactions = { readonly data: { readonly transactions: readonly { readonly tx_hash: string }[] } }

/** Pages of long lists and of a ranking, and transactions by hash; a quick look is at random pages of the first list. */
export const kindsFor = async (
  side: Side,
  { hub, token }: Chain,
  isQuick: boolean,
): Promise<readonly Kind[]> => {
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

/** Transactions of all parts of the chain, each asked once. */
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
