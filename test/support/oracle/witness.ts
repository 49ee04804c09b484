import { type Service, serviceOn } from '../processes/service.ts'
import { seeded } from '../seeded.ts'
import { loadFrom, temporarySqlite } from '../stores/loading.ts'
import { type ListCall, listCall } from './plain-lists.ts'
import { countUpTo } from './plain-past.ts'
import { type PlainRow, plainLists, shownPlainRow } from './plain-records.ts'

export type Witness = Awaited<ReturnType<typeof witness>>
export type Testimony = Awaited<ReturnType<Witness['stop']>>

type WitnessOptions = {
  readonly seed: number
  readonly askers?: number
  /** Expected statuses beside 200, such as 503 while the service is unavailable. */
  readonly also?: readonly number[]
}

/** Rankings are not paged beyond this many rows. */
const DEEPEST = 200
const MOST_TOLD = 10
/** After this many answers of one height in a row the requests slow down: nothing changes. */
const SOON_ENOUGH = 300
const CALM_MS = 20
/** Errors are answered at once. This pause leaves the processor to the server that is starting. */
const AWAY_MS = 100

/**
 * Sends requests for lists, rankings, names and figures continuously and checks every answer. The height must
 * not decrease. Rows and total of a list must be those of the plain list at the answer's height. The same
 * request at the same height must have the same answer.
 */
export async function witness(service: Pick<Service, 'ask' | 'key' | 'lines'>, options: WitnessOptions) {
  const questions = questionsOver(await plainLists(), seeded(options.seed))
  const wrong: string[] = []
  const statuses: Record<number, number> = {}
  const answers = new Map<number, Map<string, string>>()
  let awaited: { readonly status: number; readonly from: number; readonly done: () => void }[] = []
  let [height, asked, unchanged] = [-1, 0, 0]
  let [lastGood, longestGapMs, stopping] = [performance.now(), 0, false]
  const tell = (path: string, problem: string): void => {
    if (wrong.length < MOST_TOLD) wrong.push(`${path}: ${problem}`)
  }
  const judgeGood = (path: string, text: string, at: number, floor: number, check: Check): void => {
    const now = performance.now()
    longestGapMs = Math.max(longestGapMs, now - lastGood)
    lastGood = now
    if (at < floor) tell(path, `height ${at} after ${floor}`)
    unchanged = at === height ? unchanged + 1 : 0
    height = Math.max(height, at)
    const known = answers.get(at) ?? new Map<string, string>()
    const before = known.get(path) ?? text
    answers.set(at, known.set(path, text))
    if (before !== text) tell(path, `two answers at height ${at}: ${before} and ${text}`)
    const problem = check(text, at)
    if (problem !== undefined) tell(path, `at height ${at}: ${problem}`)
  }
  const askOnce = async (): Promise<void> => {
    const { path, check } = questions(height)
    const [number, floor] = [asked++, height]
    const response = await service.ask(path, { headers: { 'x-api-key': service.key } })
    const text = await response.text()
    const { status } = response
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status === 200) judgeGood(path, text, Number(response.headers.get('x-block-height')), floor, check)
    else if (!options.also?.includes(status) || text.includes('127.0.0.1'))
      tell(path, `${status} ${text} ${causeOf(service, text)}`)
    const seen = awaited.filter(one => one.status === status && number >= one.from)
    awaited = awaited.filter(one => !seen.includes(one))
    for (const { done } of seen) done()
    if (status !== 200) await Bun.sleep(AWAY_MS)
    else if (unchanged > SOON_ENOUGH) await Bun.sleep(CALM_MS)
  }
  const asker = async (): Promise<void> => {
    while (!stopping) await askOnce()
  }
  const askers = Promise.all(Array.from({ length: options.askers ?? 2 }, asker))
  return {
    /** Height of the last answer with status 200. −1: none yet. */
    height: () => height,
    good: () => statuses[200] ?? 0,
    /** Resolves at the next answer with that status to a request that is sent after this call. */
    sees: (status: number) => new Promise<void>(done => awaited.push({ status, from: asked, done })),
    /** Stops sending requests. `longestGapMs`: between two answers with status 200; `answers`: by height and path. */
    stop: async () => {
      stopping = true
      await askers
      return { wrong, statuses, longestGapMs, answers }
    },
  }
}

const causeOf = ({ lines }: Pick<Service, 'lines'>, text: string): string =>
  lines
    .filter(({ fields }) => text.includes(`"request_id":"${fields['id']}"`))
    .map(({ fields }) => String(fields['error'] ?? ''))
    .join('')

/** The error in the text of an answer at a height. undefined: none. */
type Check = (text: string, height: number) => string | undefined
type Question = { readonly path: string; readonly check: Check }

const fine: Check = () => undefined
const SIZES = [1, 7, 20, 100]

/** Draws random requests. `height` is the current height of the chain, so that most pages have rows. */
function questionsOver(
  lists: ReadonlyMap<string, readonly PlainRow[]>,
  random: () => number,
): (height: number) => Question {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const keys = [...lists.keys()].filter(key => listCall(key) !== undefined)
  const longest = keys.toSorted((a, b) => (lists.get(b)?.length ?? 0) - (lists.get(a)?.length ?? 0)).slice(0, 12)
  const listQuestion = (height: number): Question => {
    const key = pick(random() < 0.5 ? longest : keys)
    const rows = lists.get(key) ?? []
    const size = pick(SIZES)
    const sort = pick(['asc', 'desc'] as const)
    const page = 1 + Math.floor(random() * Math.ceil((countUpTo(rows, height) + 1) / size))
    const { module, action, params: named } = listCall(key) as ListCall
    const params = { ...named, page, size, sort, compat: 'iostabc', numbers: 'string' }
    return { path: pathOf(`${module}/get-${action}`, params), check: listCheck(rows, page, size, sort) }
  }
  const ranking = (call: string, params: object): Question => {
    const size = pick(SIZES)
    const page = 1 + Math.floor((random() * DEEPEST) / size)
    return { path: pathOf(call, { ...params, page, size, compat: 'iostabc' }), check: fine }
  }
  return height => {
    if (random() < 0.6) return listQuestion(height)
    return pick([
      () => ranking('token/get-token-holder', { token: 'iost' }),
      () => ranking('base/get-wealth-list', {}),
      () => ({ path: pathOf('base/search', { text: 'ad' }), check: fine }),
      () => ({ path: pathOf('base/get-overview', {}), check: fine }),
      () => ({ path: pathOf('block/get-latest-block', {}), check: latestCheck }),
      () => ({ path: pathOf('account/get-account-detail', { account: 'admin' }), check: fine }),
    ])()
  }
}

function pathOf(call: string, params: object): string {
  const [module = '', action = ''] = call.split('/')
  const query = new URLSearchParams({ module, action })
  for (const [name, value] of Object.entries(params)) query.set(name, String(value))
  return `/api/?${query}`
}

const listCheck =
  (rows: readonly PlainRow[], page: number, size: number, sort: 'asc' | 'desc'): Check =>
  (text, height) => {
    const total = countUpTo(rows, height)
    const [from, to] = [(page - 1) * size, Math.min(total, page * size)]
    const expected = (
      sort === 'asc'
        ? rows.slice(from, to)
        : rows.slice(Math.max(0, total - to), Math.max(0, total - from)).toReversed()
    ).map(shownPlainRow)
    const { data } = JSON.parse(text) as { data: { total: unknown; transactions: { amount?: string }[] } }
    if (Number(data.total) !== total) return `total ${data.total}; the chain has ${total}`
    const got = data.transactions.map(({ amount: _, ...row }) => row)
    return Bun.deepEquals(got, expected, true)
      ? undefined
      : `rows ${JSON.stringify(got).slice(0, 300)}; the chain has ${JSON.stringify(expected).slice(0, 300)}`
  }

const latestCheck: Check = (text, height) =>
  new RegExp(`"number":"?${height}\\b`).test(text) ? undefined : text.slice(0, 200)

/**
 * Some of a witness's answers that differ, in any character, from those of the other store when it is loaded
 * undisturbed to the height of the answer. `url` is the node, which must still be at the same height.
 */
export async function secondOpinion(url: string, { answers }: Pick<Testimony, 'answers'>): Promise<readonly string[]> {
  const other = await temporarySqlite()
  const service = serviceOn(other.store)
  const wrong: string[] = []
  try {
    for (const [height, texts] of [...answers].toSorted(([a], [b]) => a - b)) {
      await loadFrom(url, other.store, { to: height })
      for (const [path, text] of texts) {
        const response = await service.ask(path, { headers: { 'x-api-key': service.key } })
        const expected = await response.text()
        if (expected !== text) wrong.push(`${path} at height ${height}: ${text}; expected ${expected}`)
        if (wrong.length === 5) return wrong
      }
    }
    return wrong
  } finally {
    await other.destroy()
  }
}
