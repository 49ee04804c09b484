import { writeJson } from '#chain/json.ts'
import { isAccountName } from '#chain/names.ts'
import { toIso } from '#chain/time.ts'
import { catchKinds } from '#failure/failure.ts'
import { accounts } from '#indices/account.ts'
import { blocks } from '#indices/block.ts'
import { blockId, listOf, lists } from '#indices/list.ts'
import { producers } from '#indices/producer.ts'
import type { ListedRecord } from '#indices/record.ts'
import { collections, itemId, items } from '#indices/token721.ts'
import { wealth } from '#indices/wealth.ts'
import type { Published, View } from '#store/port.ts'
import { type AnswerDeps, answer } from '../answer.ts'
import type { ApiAction } from '../define.ts'
import type { Options } from '../request/options.ts'
import { listParameters, type SampleKind } from '../request/query.ts'

/**
 * Things of the served chain that belong together: an account, one of its records, the transaction and block
 * of that record. A missing property means that no such thing was found.
 */
type Scene = Readonly<Partial<Record<SampleKind, string>>>

/** Numbers of owners, of newest rows per owner, and of producers that are read. */
const OWNERS = 10
const ROWS = 3
const PRODUCERS = 20
const MEMBERS = 3

/** Scenes at the height of the view, those with the most properties first as far as is known. */
export async function findScenes(view: View): Promise<readonly Scene[]> {
  const rich = await view.page(wealth, 'richest', { offset: 0, limit: OWNERS })
  const docs = await view.getMany(accounts, rich.map(({ owner }) => owner).filter(isAccountName))
  const found = docs.flatMap(doc => (doc === undefined ? [] : [doc.name, doc.creator]))
  const names = [...new Set(found)].filter(isAccountName)
  const signers = await readTopProducers(view)
  const rows = await readNewestRows(view, names)

  const heights = [...new Set(rows.map(({ row }) => row.height))]
  const docsOfBlocks = await view.getMany(blocks, heights.map(blockId))
  const hashes = new Map(docsOfBlocks.flatMap(doc => (doc === undefined ? [] : [[doc.height, doc.hash] as const])))
  const common = { accounts: names.slice(0, MEMBERS).join(','), ...listOfTransactions(rows) }
  const scenes = rows.map(({ account, row }, at): Scene => {
    const producer = signers[at % Math.max(signers.length, 1)]
    const hash = hashes.get(row.height)
    return {
      ...common,
      account,
      contract: row.contract,
      action: row.action_name,
      function: `${row.contract}/${row.action_name}`,
      token: parseRecordToken(row),
      transaction: row.tx_hash,
      block: String(row.height),
      day: toIso(row.time).slice(0, 'YYYY-MM-DD'.length),
      ...(hash === undefined ? {} : { 'block hash': hash }),
      ...(producer === undefined ? {} : { producer }),
    }
  })
  return [...scenes, { block: String(view.at.height) }, ...(await findNftScene(view))]
}

/** The first NFT of the largest collection, with its owner; empty: the chain has no NFTs. */
async function findNftScene(view: View): Promise<readonly Scene[]> {
  const [largest] = await view.page(collections, 'byIssued', { offset: 0, limit: 1 })
  if (largest === undefined) return []
  const { symbol: collection } = largest
  const first = await view.get(items, itemId(collection, '0'))
  return [{ collection, ...(first === undefined ? {} : { nft: '0', account: first.owner }) }]
}

async function readTopProducers(view: View): Promise<readonly string[]> {
  const docs = await view.page(producers, 'all', { offset: 0, limit: PRODUCERS })
  return docs
    .filter(({ registered }) => registered)
    .toSorted((a, b) => Number(b.votes - a.votes))
    .map(({ account }) => account)
}

type Row = { readonly account: string; readonly row: ListedRecord }

/**
 * The newest row of each account, then the second newest of each, and so on. Rows whose texts are stored
 * elsewhere are left out.
 */
async function readNewestRows(view: View, names: readonly string[]): Promise<readonly Row[]> {
  const found = await view.getMany(lists, names.map(listOf.account))
  const columns = await Promise.all(
    found.map(async (list, at) => {
      const account = names[at]
      if (list === undefined || account === undefined || list.count === 0) return []
      const rows = await view.records(list, Math.max(1, list.count - ROWS + 1), list.count)
      return rows
        .filter(({ overflow }) => !overflow)
        .toReversed()
        .map(row => ({ account, row }))
    }),
  )
  return Array.from({ length: ROWS }, (_, depth) => columns.flatMap(column => column.slice(depth, depth + 1))).flat()
}

function listOfTransactions(rows: readonly Row[]): Scene {
  const hashes = [...new Set(rows.map(({ row }) => row.tx_hash))].slice(0, MEMBERS)
  return hashes.length === 0 ? {} : { transactions: hashes.join(',') }
}

/** The token in the data of a row of token.iost; `iost` for any other row. */
function parseRecordToken({ contract, data }: ListedRecord): string {
  const [, symbol = 'iost'] = contract === 'token.iost' ? (/^\["([a-z0-9_.]+)"/.exec(data) ?? []) : []
  return symbol
}

/** A call that has an answer on the served chain. */
export type Example = {
  readonly params: Readonly<Record<string, string>>
  readonly data: string
  readonly at: Published
}

type ChooseOptions = { readonly options: Options; readonly signal: AbortSignal }

/**
 * The call of the first scene whose answer has content. If there is none, the first with an empty answer;
 * otherwise undefined. Throws failures that the call did not cause: 'unavailable', 'deadline'.
 */
export async function chooseExample(
  deps: AnswerDeps,
  { action, scenes }: { readonly action: ApiAction; readonly scenes: readonly Scene[] },
  { options, signal }: ChooseOptions,
): Promise<Example | undefined> {
  const tried = new Set<string>()
  let best: Example | undefined
  for (const scene of scenes) {
    const params = fillParams(action, scene)
    const name = JSON.stringify(params)
    if (params === undefined || tried.has(name)) continue
    tried.add(name)
    const found = await answerExample(deps, { action, params }, { options, signal })
    if (found === undefined) continue
    if (isFull(found.data, action)) return found
    best ??= found
  }
  return best
}

type Call = { readonly action: ApiAction; readonly params: Example['params'] }

/** The answer of a call; undefined: the chain has no such thing, or the things do not belong together. */
async function answerExample(
  deps: AnswerDeps,
  { action, params }: Call,
  { options, signal }: ChooseOptions,
): Promise<Example | undefined> {
  const query = Object.entries({ module: action.module, action: action.action, ...params })
  const found = await catchKinds(['not_found', 'bad_request'], answer(deps, { query, options }, { signal }))
  return found && { params, data: writeJson(found.data, options), at: found.at }
}

/**
 * Whether an answer shows the purpose of the action: a list must have rows; a single thing must have no empty
 * list or object.
 */
function isFull(data: string, { list }: ApiAction): boolean {
  const fields = Object.entries(JSON.parse(data) as Readonly<Record<string, unknown>>)
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return list === undefined
    ? !fields.some(([, value]) => isEmpty(value))
    : fields.some(([name, value]) => name === list && !isEmpty(value))
}

/** Parameters of the action's own example, with values from the scene in place of values of another chain. */
function fillParams(action: ApiAction, scene: Scene): Example['params'] | undefined {
  const texts: [name: string, text: string][] = []
  for (const { name, required, spec } of listParameters(action.params)) {
    const given = new Map(Object.entries(action.example)).get(name)
    if (given === undefined && !required) continue
    const text = spec.sample === undefined ? given : scene[spec.sample]
    if (text === undefined) return undefined
    texts.push([name, text])
  }
  return Object.fromEntries(texts)
}
