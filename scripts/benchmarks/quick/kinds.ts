import { openRecording } from '#test/replay/recording.ts'
import { SIZE } from '../floors.ts'
import { scattered } from '../holders.ts'
import type { Side } from './sides.ts'

/** A kind of request, by the key that a side's store knows. */
export type Kind = { readonly name: string; readonly paths: (key: string) => readonly string[] }

/** An account of the recorded chain with a long list, and a token with many holders. */
const LISTED = `module=account&action=get-account-tx&account=busyhub&size=${SIZE}`
const HELD = `module=token&action=get-token-holder&token=iost&size=${SIZE}`
/** Different requests of a kind; more would only fill the client's memory. */
const MOST = 1_000

const pathOf = (query: string, key: string): string => `/api/?${query}&apikey=${key}`

/** What is asked: pages at any depth, transactions by hash, pages of a ranking. */
export const kindsFor = async (side: Side, chain: string): Promise<readonly [Kind, ...Kind[]]> => {
  const pagesOf = async (query: string): Promise<readonly string[]> => {
    const answer = await fetch(side.service.url + pathOf(query, side.key))
    const { data } = (await answer.json()) as { readonly data: { readonly total: number } }
    const count = Math.ceil(data.total / SIZE)
    return Array.from({ length: Math.min(MOST, count) }, (_, n) => `${query}&page=${1 + scattered(n, count)}`)
  }
  const kind = (name: string, queries: readonly string[]): Kind => ({
    name,
    paths: key => queries.map(query => pathOf(query, key)),
  })
  return [
    kind(`page of ${SIZE}`, await pagesOf(LISTED)),
    kind('transaction by hash', await hashQueries(chain)),
    kind('page of a ranking', await pagesOf(HELD)),
  ]
}

const hashQueries = async (chain: string): Promise<readonly string[]> => {
  const { height, blockText } = await openRecording(chain)
  const hashes: string[] = []
  for (let n = 0; hashes.length < MOST && n <= height; n++)
    for (const [, hash] of (blockText(scattered(n, height + 1)) ?? '').matchAll(/"tx_hash":"(\w+)"/g))
      if (hash !== undefined) hashes.push(hash)
  return hashes.slice(0, MOST).map(hash => `module=transaction&action=get-transaction-detail&tx_hash=${hash}`)
}
