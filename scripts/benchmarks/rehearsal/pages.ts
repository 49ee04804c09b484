import { interleaved } from '../measure.ts'
import { BINARY, memoryOf, serving, unlimitedKey } from '../processes.ts'
import { untilTaken } from '../until-taken.ts'
import type { Place } from './place.ts'
import { peakOf, type Row } from './row.ts'

const SIZE = 20
/**
 * Number of measured calls of each kind; fewer for a small chain, whose figures only show that all calls are answered.
 */
const CALLS = 300
const callsFor = (blocks: number): number => Math.min(CALLS, Math.ceil(blocks / 100))
/** Number of pages of each kind. */
const NEAR = 100

/** Queries of long lists. */
const LISTS = {
  blocks: 'module=base&action=get-block-list',
  transactions: 'module=base&action=get-transaction-list',
  'busy account': 'module=account&action=get-account-tx&account=busy_hub',
  holders: 'module=token&action=get-token-holder&token=coin',
} as const

type Answer = {
  readonly data: { readonly total: number; readonly transactions?: readonly { readonly tx_hash: string }[] }
}

/**
 * Durations of the first, middle and last pages of long lists and of transactions by hash, with one client, in turns.
 */
export const pageRows = async ({ folder, store }: Place): Promise<readonly Row[]> => {
  const key = await unlimitedKey(folder, store)
  const serve = ['serve', '--store', store, '--listen', '127.0.0.1:0', '--kept-answers', '0']
  const service = await serving(folder, [BINARY, ...serve])
  const memory = memoryOf(service.pid)
  const ask = async (query: string): Promise<Answer> => {
    const answer = await untilTaken(() => fetch(`${service.url}/api/?apikey=${key}&${query}`))
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${query}: ${answer.status} ${text}`)
    return JSON.parse(text) as Answer
  }
  try {
    const asks = (await Promise.all(Object.entries(LISTS).map(list => pagesOf(ask, list)))).flat()
    asks.push(await byHash(ask))
    const calls = callsFor((await ask(`${LISTS.blocks}&size=1`)).data.total)
    const times = await interleaved(asks, { calls, clients: 1 })
    const peak = peakOf(memory.samples)
    return asks.map(({ name }, at) => {
      const { p50 = 0, p99 = 0 } = times[at] ?? {}
      return { step: name, count: calls, of: 'requests' as const, p50, p99, ...peak }
    })
  } finally {
    memory.stop()
    await service.stop()
  }
}

type Asking = (query: string) => Promise<Answer>

const pagesOf = async (ask: Asking, [name, list]: readonly [string, string]) => {
  const query = `${list}&size=${SIZE}`
  const { total } = (await ask(query)).data
  const last = Math.max(1, Math.ceil(total / SIZE))
  const near = Math.min(NEAR, Math.ceil(last / 3))
  const asking = (where: string, page: (n: number) => number) => ({
    name: `${name} (${total}), ${where}`,
    ask: (n: number) => ask(`${query}&page=${page(n % near)}`),
  })
  return [
    asking('first pages', n => 1 + n),
    asking('middle pages', n => 1 + Math.floor((last - near) / 2) + n),
    asking('last pages', n => last - n),
  ]
}

/** Transactions by hash, from pages all over the list of transactions. */
const byHash = async (ask: Asking) => {
  const query = `${LISTS.transactions}&size=${SIZE}`
  const { total } = (await ask(query)).data
  const last = Math.max(1, Math.ceil(total / SIZE))
  const hashes: string[] = []
  for (let at = 0; at < NEAR; at++) {
    const page = 1 + Math.floor((at * last) / NEAR)
    const { data } = await ask(`${query}&page=${page}`)
    hashes.push(...(data.transactions ?? []).map(({ tx_hash }) => tx_hash))
  }
  return {
    name: 'transaction by hash',
    // Neighbouring transactions would be cached from the page that listed them.
    ask: (n: number) =>
      ask(`module=transaction&action=get-transaction-detail&tx_hash=${hashes[(n * 977) % hashes.length] ?? ''}`),
  }
}
