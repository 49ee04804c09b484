import type { Block, Receipt, Transaction } from '#chain/block.ts'
import { toIso } from '#chain/time.ts'
import { recordedBlocks } from '../nodes/recording.ts'
import { isPossible, keysOf, movedBy, type PlainListedRow } from './plain-lists.ts'

type PlainFacts = {
  readonly amount?: string
  readonly token?: string
  readonly memo?: string
  readonly locked_until?: string
  readonly collection?: string
  readonly token_id?: string
}

/** A row of a list, computed from the blocks alone in the simplest way. Independent of `src/derive`. */
export type PlainRow = PlainListedRow & {
  readonly height: number
  readonly hash: string
  readonly index: number
  readonly data: string
  readonly returned: string
  readonly time: bigint
  readonly facts: PlainFacts
}

const AMOUNT_AT = new Map([
  ['token.iost/transfer', 3],
  ['token.iost/transferFreeze', 3],
  ['token.iost/issue', 2],
  ['token.iost/destroy', 2],
])
const MOVEMENTS = new Set([...AMOUNT_AT.keys(), 'auth.iost/signUp'])
const SYSTEM = new Set(
  'system token token721 gas issue auth domain bonus vote vote_producer base exchange ram'
    .split(' ')
    .map(name => `${name}.iost`),
)

/** Arguments as an array in which numbers are marked texts. undefined: not an array. */
function argumentsOf(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text, (_k, v, c?: { source?: string }) =>
      typeof v === 'number' ? { number: c?.source } : v,
    )
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const cut = (amount: unknown, decimals: number): string =>
  typeof amount === 'string' && /^\d*\.?\d*$/.test(amount) ? plain(amount, decimals) : `?${JSON.stringify(amount)}`

/** The arguments that name the sender and the recipient of a call. */
const PAIRS = new Map<string, readonly [from: number, to: number]>([
  ...['token.iost/transfer', 'token.iost/transferFreeze', 'token721.iost/transfer'].map(
    name => [name, [1, 2]] as const,
  ),
  ...['gas.iost/pledge', 'vote_producer.iost/vote'].map(name => [name, [0, 1]] as const),
  ...['ram.iost/buy', 'ram.iost/sell', 'ram.iost/lend'].map(name => [name, [0, 1]] as const),
  ...['gas.iost/unpledge', 'vote_producer.iost/unvote'].map(name => [name, [1, 0]] as const),
])

function parties(name: string, data: string, publisher: string): readonly [from: string, to: string] {
  const args = argumentsOf(data) ?? []
  const [first, second] = args.map(arg => (isPossible(arg) ? arg : undefined))
  const otherwise = [publisher, name.slice(0, name.indexOf('/'))] as const
  const [from, to] = PAIRS.get(name)?.map(at => args[at]) ?? []
  if (PAIRS.has(name)) return isPossible(from) && isPossible(to) ? [from, to] : otherwise
  if (name === 'token.iost/issue' || name === 'token721.iost/issue') return second ? ['', second] : otherwise
  if (name === 'token.iost/destroy') return second ? [second, ''] : otherwise
  if (name === 'auth.iost/signUp') return first ? [publisher, first] : otherwise
  return first && first !== publisher && /^(?:auth|vote_producer|bonus)\.iost\//.test(name)
    ? [publisher, first]
    : otherwise
}

type PlainChain = {
  readonly rows: readonly PlainRow[]
  /** By their keys (`keysOf`). */
  readonly lists: ReadonlyMap<string, readonly PlainRow[]>
}

export function plainChain(blocks: readonly Block[]): PlainChain {
  const decimals = new Map<string, number>()
  const contracts = new Set(SYSTEM)
  // system.iost exists although nothing deploys it.
  const deployed = new Set(['system.iost'])
  const rows: PlainRow[] = []
  const lists = new Map<string, PlainRow[]>()
  for (const block of blocks)
    for (const tx of block.transactions) {
      learnTokens(tx, decimals)
      for (const plain of rowsOf(block, tx, decimals)) {
        const id = deployedBy(tx, plain)
        const isNew = id !== undefined && !deployed.has(id)
        if (isNew) deployed.add(id)
        const row = isNew ? { ...plain, deployed: id } : plain
        rows.push(row)
        for (const key of keysOf(row, contracts)) {
          const list = lists.get(key) ?? []
          lists.set(key, list)
          list.push(row)
        }
      }
      if (tx.receipt.statusCode === 'SUCCESS')
        tx.actions.forEach((action, at) => {
          if (action.contract !== 'system.iost' || action.actionName !== 'setCode') return
          const id = (JSON.parse(tx.receipt.returns[at] ?? '[]') as string[])[0]
          if (id !== undefined) contracts.add(id)
        })
    }
  return { rows, lists }
}

/** The contract that an action of system.iost creates unless it exists already. */
function deployedBy(
  tx: Transaction,
  { contract, action, data, index, ownAction, status }: PlainRow,
): string | undefined {
  if (!ownAction || status !== 'SUCCESS' || contract !== 'system.iost') return undefined
  const text = action === 'setCode' ? tx.receipt.returns[index] : action === 'initSetCode' ? data : undefined
  return text === undefined ? undefined : (JSON.parse(text) as string[])[0]
}

function learnTokens(tx: Transaction, decimals: Map<string, number>): void {
  for (const { funcName, content } of tx.receipt.receipts) {
    if (funcName !== 'token.iost/create') continue
    const [symbol, , , config] = JSON.parse(content) as [string, string, number, string]
    const { decimal } = JSON.parse(Buffer.from(config, 'base64').toString()) as { decimal?: number }
    decimals.set(symbol, decimal ?? 8)
  }
}

function meaningOf(name: string, data: string, decimals: ReadonlyMap<string, number>): string {
  const args = argumentsOf(data)
  const amountAt = AMOUNT_AT.get(name)
  if (args === undefined || amountAt === undefined) return JSON.stringify(args)
  const places = decimals.get(String(args[0])) ?? 8
  return JSON.stringify(args.map((value, at) => (at === amountAt ? cut(value, places) : value)))
}

function rowsOf(block: Block, tx: Transaction, decimals: ReadonlyMap<string, number>): PlainRow[] {
  const base = tx.publisher === 'base.iost'
  const success = tx.receipt.statusCode === 'SUCCESS'
  const meaning = (name: string, data: string): string => meaningOf(name, data, decimals)
  const receipts = success ? tx.receipt.receipts.filter(({ funcName }) => MOVEMENTS.has(funcName)) : []
  const owned = new Set<number>()
  const { statusCode: status } = tx.receipt
  const fixed = { height: block.height, hash: tx.hash, time: block.time, publisher: tx.publisher, status }
  const rows: PlainRow[] = []
  type Said = Pick<PlainRow, 'contract' | 'action' | 'data' | 'index' | 'returned' | 'ownAction'>
  /** `own`: the receipt of the row's movement, if any. */
  const add = (said: Said, own: Receipt | undefined): void => {
    const { contract, action, data } = said
    const name = `${contract}/${action}`
    const [from, to] = parties(name, data, tx.publisher)
    rows.push({
      ...{ ...fixed, ...said, from, to },
      ...(own !== undefined && name === 'auth.iost/signUp' ? { created: to } : {}),
      moved: own === undefined ? undefined : movedBy(name, argumentsOf(data) ?? []),
      facts: plainFacts(tx, own, { name, data, decimals }),
    })
  }
  for (const [index, { contract, actionName, data }] of base ? [] : tx.actions.entries()) {
    const name = `${contract}/${actionName}`
    const wanted = MOVEMENTS.has(name) ? meaning(name, data) : undefined
    const isOwn = (r: Receipt, n: number) =>
      !owned.has(n) && r.funcName === name && meaning(r.funcName, r.content) === wanted
    const own = wanted === undefined ? -1 : receipts.findIndex(isOwn)
    if (own >= 0) owned.add(own)
    const returned = tx.receipt.returns[index] ?? ''
    add({ contract, action: actionName, data, index, returned, ownAction: true }, receipts[own])
  }
  for (const [at, own] of receipts.entries()) {
    if (owned.has(at) || (base && own.funcName === 'token.iost/issue' && own.content.startsWith('["contribute"')))
      continue
    const [contract = '', action = ''] = own.funcName.split('/')
    add({ contract, action, data: own.content, index: rows.length, returned: '', ownAction: false }, own)
  }
  return rows
}

/** Computed from receipts alone. `own`: the receipt of the row's movement; for a call, all receipts are searched. */
function plainFacts(
  tx: Transaction,
  own: Pick<Receipt, 'funcName' | 'content'> | undefined,
  { name, data, decimals }: { name: string; data: string; decimals: ReadonlyMap<string, number> },
): PlainFacts {
  if (own === undefined) {
    if (name.startsWith('token721.iost/')) return nftOf(tx, name, data)
    const amount = tx.receipt.statusCode === 'SUCCESS' ? amountOfCall(tx, name, data) : undefined
    return amount === undefined ? {} : { amount }
  }
  if (!own.funcName.startsWith('token.iost/')) return {}
  const args = JSON.parse(own.content) as readonly unknown[]
  const token = String(args[0])
  const isShort = /\/(?:issue|destroy)$/.test(own.funcName)
  const amount = plain(String(args[isShort ? 2 : 3]), decimals.get(token) ?? 8)
  if (isShort) return { amount, token }
  const isFrozen = own.funcName.endsWith('Freeze')
  // The time has more digits than a double can hold.
  const until = /,(-?\d+),"(?:[^"\\]|\\.)*"\]$/.exec(own.content)?.[1]
  return {
    ...{ amount, token, memo: String(args[isFrozen ? 5 : 4]) },
    ...(isFrozen ? { locked_until: until ?? 'none' } : {}),
  }
}

/** The NFT of an action with its receipt; the id of an issued one is what the action returned. */
function nftOf(tx: Transaction, name: string, data: string): PlainFacts {
  if (!tx.receipt.receipts.some(({ funcName, content }) => funcName === name && content === data)) return {}
  const [collection = '', , , id = ''] = JSON.parse(data) as readonly string[]
  if (name.endsWith('/transfer')) return { collection, token_id: id }
  if (!name.endsWith('/issue')) return {}
  const at = tx.actions.findIndex(action => action.actionName === 'issue' && action.data === data)
  return { collection, token_id: String(JSON.parse(tx.receipt.returns[at] ?? '[]')[0]) }
}

/** The content of the receipt of a vote or pledge, or the RAM of a trade. */
function amountOfCall(tx: Transaction, name: string, data: string): string | undefined {
  const said = (funcName: string) =>
    tx.receipt.receipts
      .filter(receipt => receipt.funcName === funcName)
      .map(({ content }) => JSON.parse(content) as readonly string[])
  const [first, second, third] = JSON.parse(data) as readonly unknown[]
  if (/^(?:gas\.iost\/(?:un)?pledge|vote_producer\.iost\/(?:un)?vote)$/.test(name)) {
    const own = said(name).find(args => args[0] === first && args[1] === second && Number(args[2]) === Number(third))
    return plain(own?.[2] ?? 'none', 8)
  }
  if (!/^ram\.iost\/(?:buy|sell)$/.test(name)) return undefined
  const isBuy = name.endsWith('buy')
  const [from, to] = isBuy ? ['ram.iost', second] : [first, 'ram.iost']
  const moved = said('token.iost/transfer').find(
    args => args[0] === 'ram' && args[1] === from && args[2] === to && Number(args[3]) === third,
  )
  return plain(moved?.[3] ?? 'none', 0)
}

/** `"0012.34500"` with 2 decimals is `"12.34"`. */
function plain(text: string, decimals: number): string {
  const [whole = '', part = ''] = text.split('.')
  const fraction = part.slice(0, decimals).replace(/0+$/, '')
  return `${whole.replace(/^0+(?=.)/, '')}${fraction === '' ? '' : `.${fraction}`}`
}

let recorded: Promise<PlainChain> | undefined

/** All rows and lists of the recorded chain, oldest first, computed from the blocks once per process. */
export function plainRecording(): Promise<PlainChain> {
  recorded ??= recordedBlocks().then(blocks => plainChain(blocks.map(({ block }) => block)))
  return recorded
}

export const plainLists = async (): Promise<PlainChain['lists']> => (await plainRecording()).lists

/** A plain row in the form of `compat=iostabc`, without `amount`. */
export const shownPlainRow = (row: PlainRow) => ({
  contract: row.contract,
  action_name: row.action,
  data: row.data,
  block: String(row.height),
  tx_hash: row.hash,
  from: row.from,
  to: row.to,
  created_at: toIso(row.time),
  index: row.index,
  return: row.returned,
  status_code: row.status,
})
