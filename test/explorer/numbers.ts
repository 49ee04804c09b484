import { fromUnits, sum } from '#chain/amount.ts'
import type { ReadPage } from './read-page.ts'
import type { Explorer } from './served.ts'

/**
 * Every number in an answer of the API, including numbers in JSON texts of the chain such as arguments and receipts.
 */
function numbersIn(answer: unknown): readonly string[] {
  if (typeof answer === 'number') return [String(answer)]
  if (typeof answer === 'string') return [answer, ...(/^[[{]/.test(answer) ? numbersOfText(answer) : [])]
  if (Array.isArray(answer)) return answer.flatMap(numbersIn)
  return answer !== null && typeof answer === 'object' ? Object.values(answer).flatMap(numbersIn) : []
}

/** Numbers are kept as texts, since they may have more digits than a double. */
function numbersOfText(text: string): readonly string[] {
  try {
    return numbersIn(
      JSON.parse(text, (_key, value, context?: { readonly source?: string }) =>
        typeof value === 'number' ? (context?.source ?? String(value)) : value,
      ),
    )
  } catch {
    return []
  }
}

type Answers = readonly unknown[]
type Balance = {
  readonly name: string
  readonly balance: string
  readonly frozen_balance: { readonly total: string }
  readonly vote_balance: { readonly total: string }
}
type Detail = {
  readonly gas_info: {
    readonly limit: string
    readonly pledged_info: readonly { readonly pledger: string; readonly amount: string }[]
  }
  readonly ram_info: { readonly used: string; readonly available: string }
}

const sumsOf = (answers: Answers): readonly string[] => [
  ...accountSums(answers),
  ...weekOf(answers),
  ...returnsOf(answers),
  ...answers.flatMap(historySums),
]

type Receipted = {
  readonly transaction: { readonly tx_receipt: { readonly ram_usage?: Readonly<Record<string, string>> } }
}

/** Bytes of RAM that a transaction returned. They are negative in the usage of their payers. */
function returnsOf(answers: Answers): readonly string[] {
  const found = answers.find((each): each is Receipted => has(each, 'transaction'))
  const usage = Object.values(found?.transaction.tx_receipt.ram_usage ?? {})
  return usage.filter(bytes => bytes.startsWith('-')).map(bytes => bytes.slice(1))
}

type Changes = { readonly changes: readonly { readonly balance?: string; readonly frozen?: string }[] }

const historySums = (answer: unknown): readonly string[] =>
  has(answer, 'changes')
    ? (answer as Changes).changes.flatMap(({ balance, frozen }) =>
        balance === undefined || frozen === undefined ? [] : [sum(balance, frozen)],
      )
    : []

type VoteDays = { readonly days: readonly { readonly votes: string; readonly change?: string }[] }

/**
 * The change of a producer's votes in the last seven days: the last votes minus those at the start of the first day.
 */
function weekOf(answers: Answers): readonly string[] {
  const found = answers.find((each): each is VoteDays => has(each, 'days'))
  const week = found?.days.slice(-7) ?? []
  const [first, last] = [week[0], week.at(-1)]
  if (first?.change === undefined || last === undefined) return []
  return [decimal(units(last.votes) - units(first.votes) + units(first.change))]
}

function accountSums(answers: Answers): readonly string[] {
  const balance = answers.find((each): each is Balance => has(each, 'vote_balance'))
  if (balance === undefined) return []
  const detail = answers.find((each): each is Detail => has(each, 'gas_info'))
  const pledged = (detail?.gas_info.pledged_info ?? []).reduce((sum, { amount }) => sum + units(amount), 0n)
  const own = [balance.balance, balance.frozen_balance.total, balance.vote_balance.total]
  const all = own.reduce((sum, each) => sum + units(each), pledged)
  const { used = '0', available = '0' } = detail?.ram_info ?? {}
  const ram = BigInt(used) + (available.startsWith('-') ? 0n : BigInt(available))
  const ownPledges = (detail?.gas_info.pledged_info ?? []).filter(({ pledger }) => pledger === balance.name)
  const byOthers = ownPledges.reduce(
    (rest, { amount }) => rest - units(amount),
    units(detail?.gas_info.limit ?? '0') / 300_000n,
  )
  return [decimal(pledged), decimal(all), decimal(all - pledged), String(ram), decimal(byOthers)]
}

const has = (value: unknown, name: string): boolean => value !== null && typeof value === 'object' && name in value

const decimal = (value: bigint): string => fromUnits(value, 8)

function units(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(8, '0'))
}

/**
 * Figures of a page that are in none of the API calls that the page links to. Throws if a call is refused.
 * `path` is the path of the page.
 */
export async function strayFigures(
  explorer: Explorer,
  path: string,
  { links, values, derived }: Pick<ReadPage, 'links' | 'values' | 'derived'>,
): Promise<readonly string[]> {
  const calls = links
    .map(({ href }) => new URL(href, `http://127.0.0.1:8080${path}`))
    .filter(({ pathname, searchParams }) => pathname === '/api/' && !searchParams.has('format'))
  const answers: unknown[] = []
  for (const { pathname, search } of calls) {
    const response = await explorer.ask(`${pathname}${search}&numbers=string`)
    if (response.status !== 200) throw new Error(`${path}: ${search}: ${await response.text()}`)
    answers.push(((await response.json()) as { readonly data: unknown }).data)
  }
  const known = new Set([...answers.flatMap(numbersIn), ...sumsOf(answers), ...derived])
  return values.filter(value => !known.has(value))
}
