import { formatUnits } from '#chain/amount.ts'
import { type ListCall, listCall } from '#test/support/oracle/plain-lists.ts'
import { hashOfRow } from '../generator/rows.ts'
import { type Ranked, type Truth, truthAt } from '../generator/truth.ts'
import type { World } from '../generator/world.ts'

/** A query, and a check of the `data` of its answer at a height. The check returns the error, or undefined. */
export type Question = {
  readonly query: string
  readonly judge: (data: unknown, truth: Truth) => string | undefined
}

const DECIMALS = { iost: 8, coin: 3 } as const
const SIZES = [1, 7, 20]
const DEEPEST = 200

export function questionsOf(world: World, random: () => number): () => Question {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const keys = truthAt(world, 1)
    .keys()
    .filter(key => listCall(key) !== undefined)
  const paged = (limit: number): { readonly page: number; readonly size: number } => {
    const size = pick(SIZES)
    return { size, page: 1 + Math.floor((random() * limit) / size) }
  }
  const ranking = (call: object, list: string, ranked: (truth: Truth) => Rows): Question => {
    const { page, size } = paged(DEEPEST)
    return {
      query: queryOf({ ...call, page, size }),
      judge: (data, truth) => {
        const rows = ranked(truth)
        const expected = { [list]: rows.slice((page - 1) * size, page * size), total: String(rows.length) }
        return compared(withTextTotal(data, list), expected)
      },
    }
  }
  const holders = (): Question => {
    const token = pick(['iost', 'coin'] as const)
    return ranking({ module: 'token', action: 'get-token-holder', token }, 'holders', truth =>
      amounts(truth.holders(token), DECIMALS[token]).map(([account, balance]) => ({
        account,
        balance,
        symbol: token,
      })),
    )
  }
  const voters = (): Question => {
    const { account } = pick(world.producers)
    return ranking({ module: 'producer', action: 'get-producer-voter', producer: account }, 'voters', truth =>
      amounts(truth.voters(account), DECIMALS.iost).map(([name, votes]) => ({ account: name, votes })),
    )
  }
  const wealth = (): Question =>
    ranking({ module: 'base', action: 'get-wealth-list' }, 'wealth', truth =>
      truth.wealth().map(({ owner, total, token, vote, frozen }) => ({
        symbol: 'iost',
        account: owner,
        balance: formatUnits(total, DECIMALS.iost),
        token_balance: formatUnits(token, DECIMALS.iost),
        vote_balance: formatUnits(vote, DECIMALS.iost),
        frozen_balance: formatUnits(frozen, DECIMALS.iost),
      })),
    )
  const list = (): Question => {
    const key = pick(keys)
    const { module, action, params } = listCall(key) as ListCall
    const { page, size } = paged(400)
    const sort = pick(['asc', 'desc'] as const)
    const call = { module, action: `get-${action}`, ...params, compat: 'iostabc' }
    return {
      query: queryOf({ ...call, page, size, sort }),
      judge: (data, truth) => {
        const expected = listPage(world, truth, key, { page, size, sort })
        return compared(listSeen(data), expected)
      },
    }
  }
  const figures = (): Question => ({
    query: queryOf({ module: 'base', action: 'get-overview' }),
    judge: (data, truth) => {
      const { account_count, lib_block } = data as Record<string, unknown>
      return compared(
        { account_count: Number(account_count), lib_block: Number(lib_block) },
        { account_count: truth.accounts, lib_block: truth.height },
      )
    },
  })
  const balance = (): Question => {
    const account = pick(['busy_hub', 'founder', 'u0000000', 'constructor', '__proto__'])
    return {
      query: queryOf({ module: 'account', action: 'get-account-balance', account }),
      judge: (data, truth) => {
        const seen = data as { balance?: string; frozen_balance?: { list?: readonly { time: string }[] } }
        return compared(
          [seen.balance, seen.frozen_balance?.list?.map(({ time }) => time)],
          [
            formatUnits(truth.balance('iost', account), DECIMALS.iost),
            truth.frozen('iost', account).map(({ due }) => String(due)),
          ],
        )
      },
    }
  }
  const kinds = [list, list, holders, voters, wealth, figures, balance]
  return () => pick(kinds)()
}

type Rows = readonly object[]

const amounts = (ranked: Ranked, decimals: number): readonly (readonly [string, string])[] =>
  ranked.map(([name, units]) => [name, formatUnits(units, decimals)])

const queryOf = (params: object): string =>
  new URLSearchParams({
    ...Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)])),
    numbers: 'string',
  }).toString()

function withTextTotal(data: unknown, list: string): unknown {
  const seen = data as Record<string, unknown>
  return { [list]: seen[list], total: String(seen['total']) }
}

type Page = { readonly page: number; readonly size: number; readonly sort: 'asc' | 'desc' }

function listPage(world: World, truth: Truth, key: string, { page, size, sort }: Page): unknown {
  const total = truth.count(key)
  const [from, to] = [(page - 1) * size + 1, Math.min(total, page * size)]
  const [first, last] = sort === 'asc' ? [from, to] : [total - to + 1, total - from + 1]
  const rows = from > total ? [] : truth.rows(key, first, last)
  const shown = rows.map(row => {
    const { height, index, contract, action, data, returned, status, from, to } = row
    return [height, hashOfRow(world, row), index, contract, action, data, returned, status, from, to].map(String)
  })
  return [String(total), sort === 'asc' ? shown : shown.toReversed()]
}

/** The fields of a row in the order of `createListPage`. */
const FIELDS = 'block tx_hash index contract action_name data return status_code from to'.split(' ')

function listSeen(data: unknown): unknown {
  const { total, transactions } = data as { total: unknown; transactions: readonly Record<string, unknown>[] }
  return [String(total), transactions.map(row => FIELDS.map(name => String(row[name])))]
}

const compared = (seen: unknown, expected: unknown): string | undefined =>
  Bun.deepEquals(seen, expected)
    ? undefined
    : `${JSON.stringify(seen).slice(0, 300)}; the truth is ${JSON.stringify(expected).slice(0, 300)}`
