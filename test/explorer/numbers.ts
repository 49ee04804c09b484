import { formatUnits, sum } from '#chain/amount.ts'
import type { ReadPage } from './read-page.ts'
import type { Explorer } from './served.ts'

// biome-ignore lint/suspicious/noExplicitAny: An answer as it came.
type Answered = any

/** Every number in an answer of the API, including numbers in JSON texts of the chain such as arguments and receipts. */
function numbersIn(answer: Answered): readonly string[] {
  if (typeof answer === 'number') return [String(answer)]
  if (typeof answer === 'string') return [answer, ...(/^[[{]/.test(answer) ? numbersOfText(answer) : [])]
  return answer !== null && typeof answer === 'object' ? Object.values(answer).flatMap(numbersIn) : []
}

/** Numbers are kept as texts, since they may have more digits than a double. */
function numbersOfText(text: string): readonly string[] {
  const keep = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value
  try {
    return numbersIn(JSON.parse(text, keep))
  } catch {
    return []
  }
}

/** The figures that pages compute from answers. */
function sumsOf(answers: readonly Answered[]): readonly string[] {
  const find = (name: string): Answered => answers.find(each => Object.hasOwn(each ?? {}, name))
  const usage = Object.values<string>(find('transaction')?.transaction.tx_receipt.ram_usage ?? {})
  const changes = answers.flatMap(each => each?.changes ?? []).filter(each => each.balance && each.frozen)
  const week = find('days')?.days.slice(-7) ?? []
  const [first, last] = [week[0], week.at(-1)]
  return [
    ...accountSums(find('vote_balance'), find('gas_info')),
    // RAM that a transaction returned is negative in the usage of its payer.
    ...usage.filter(bytes => bytes.startsWith('-')).map(bytes => bytes.slice(1)),
    ...changes.map(({ balance, frozen }) => sum(balance, frozen)),
    // The change of a producer's votes in a week is the last votes minus those at the start of the first day.
    ...(first?.change === undefined ? [] : [decimal(units(last.votes) - units(first.votes) + units(first.change))]),
  ]
}

function accountSums(balance: Answered, detail: Answered): readonly string[] {
  if (balance === undefined) return []
  const { pledged_info: pledges = [], limit = '0' } = detail?.gas_info ?? {}
  const add = (all: bigint, { amount }: { readonly amount: string }) => all + units(amount)
  const pledged = pledges.reduce(add, 0n)
  const own = [balance.balance, balance.frozen_balance.total, balance.vote_balance.total]
  const unpledged = own.reduce((all, each) => all + units(each), 0n)
  const { used = '0', available = '0' } = detail?.ram_info ?? {}
  const ram = BigInt(used) + (available.startsWith('-') ? 0n : BigInt(available))
  const toItself = pledges.filter(({ pledger }: Answered) => pledger === balance.name).reduce(add, 0n)
  const byOthers = units(limit) / 300_000n - toItself
  return [decimal(pledged), decimal(unpledged + pledged), decimal(unpledged), String(ram), decimal(byOthers)]
}

const decimal = (value: bigint): string => formatUnits(value, 8)

/** The units of an amount, which may have a sign. */
export function units(text: string, decimals = 8): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** Figures of the page at `path` that are in none of the API calls that it links to. Throws if a call is refused. */
export async function strayFigures(
  explorer: Explorer,
  path: string,
  { links, values, derived }: Pick<ReadPage, 'links' | 'values' | 'derived'>,
): Promise<readonly string[]> {
  const answers: Answered[] = []
  for (const { href } of links) {
    const { pathname, search, searchParams } = new URL(href, `http://127.0.0.1:8080${path}`)
    if (pathname !== '/api/' || searchParams.has('format')) continue
    const response = await explorer.ask(`${pathname}${search}&numbers=string`)
    if (response.status !== 200) throw new Error(`${path}: ${search}: ${await response.text()}`)
    answers.push(((await response.json()) as Answered).data)
  }
  const known = new Set([...answers.flatMap(numbersIn), ...sumsOf(answers), ...derived])
  return values.filter(value => !known.has(value))
}
