import type { Block, Receipt, Transaction } from '#chain/block.ts'

/** The fields of a row that describe its movement or the names in its call. */
type PlainFacts = {
  readonly amount?: string
  readonly token?: string
  readonly memo?: string
  readonly locked_until?: string
  readonly collection?: string
  readonly token_id?: string
}

/**
 * The rows of every list, computed from the blocks alone in the simplest way, to be compared with the
 * service's lists. Independent of `src/derive`.
 */
export type PlainRow = {
  readonly height: number
  readonly hash: string
  readonly index: number
  readonly contract: string
  readonly action: string
  readonly data: string
  readonly returned: string
  readonly status: string
  readonly from: string
  readonly to: string
  readonly time: bigint
  readonly ownAction: boolean
  readonly publisher: string
  /** The account that a signUp row created. */
  readonly created?: string
  /** The token that the row moved, and the sender and recipient, whether or not these names can exist. */
  readonly moved?: { readonly token: string; readonly between: readonly unknown[] }
  /** The fields that describe the movement or the names in the call. */
  readonly facts: PlainFacts
  /** The contract that the row deployed. */
  readonly deployed?: string
}

const MOVEMENTS = new Set([
  'token.iost/transfer',
  'token.iost/transferFreeze',
  'token.iost/issue',
  'token.iost/destroy',
  'auth.iost/signUp',
])
const AMOUNT_AT = new Map([
  ['token.iost/transfer', 3],
  ['token.iost/transferFreeze', 3],
  ['token.iost/issue', 2],
  ['token.iost/destroy', 2],
])
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

/** `"0012.34500"` with 2 decimals is 12.34. */
function cut(amount: unknown, decimals: number): string {
  if (typeof amount !== 'string' || !/^\d*\.?\d*$/.test(amount)) return `?${JSON.stringify(amount)}`
  const [whole = '', part = ''] = amount.split('.')
  return `${whole.replace(/^0+/, '')}.${part.slice(0, decimals).replace(/0+$/, '')}`
}

const possible = (name: unknown): name is string =>
  typeof name === 'string' &&
  /^(?:[a-z0-9_]{5,11}|0x[0-9a-f]{40}|Contract[1-9A-HJ-NP-Za-km-z]+|[a-z0-9_]+\.iost|[1-9A-HJ-NP-Za-km-z]{43,46}|0)$/.test(
    name,
  )

function parties(name: string, data: string, publisher: string): readonly [from: string, to: string] {
  const contract = name.slice(0, name.indexOf('/'))
  const args = argumentsOf(data) ?? []
  const at = (n: number): string | undefined => (possible(args[n]) ? args[n] : undefined)
  const pair = (a: number, b: number): readonly [string, string] => {
    const [from, to] = [at(a), at(b)]
    return from === undefined || to === undefined ? [publisher, contract] : [from, to]
  }
  const one = (a: number, make: (name: string) => readonly [string, string]): readonly [string, string] => {
    const name = at(a)
    return name === undefined ? [publisher, contract] : make(name)
  }
  switch (name) {
    case 'token.iost/transfer':
    case 'token.iost/transferFreeze':
    case 'token721.iost/transfer':
      return pair(1, 2)
    case 'token.iost/issue':
    case 'token721.iost/issue':
      return one(1, to => ['', to])
    case 'token.iost/destroy':
      return one(1, from => [from, ''])
    case 'gas.iost/pledge':
    case 'vote_producer.iost/vote':
    case 'ram.iost/buy':
    case 'ram.iost/sell':
    case 'ram.iost/lend':
      return pair(0, 1)
    case 'gas.iost/unpledge':
    case 'vote_producer.iost/unvote':
      return pair(1, 0)
    case 'auth.iost/signUp':
      return one(0, to => [publisher, to])
  }
  if (contract === 'auth.iost' || contract === 'vote_producer.iost' || contract === 'bonus.iost') {
    const to = at(0)
    if (to !== undefined && to !== publisher) return [publisher, to]
  }
  return [publisher, contract]
}

export type PlainChain = {
  readonly rows: readonly PlainRow[]
  /** Keys `account/…`, `failed/…`, `contract/…`, `action/…/…`, `called/…/…/…`, `created/…`, `token/…`, `moved/…/…`, `in/…`, `in/…/…`, `contracts`. */
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
          const list = lists.get(key)
          if (list === undefined) lists.set(key, [row])
          else list.push(row)
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

/** An action's text with its amount cut to the token's decimals. */
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
  const fixed = { height: block.height, hash: tx.hash, time: block.time, publisher: tx.publisher }
  const rows: PlainRow[] = []
  if (!base)
    tx.actions.forEach(({ contract, actionName, data }, at) => {
      const name = `${contract}/${actionName}`
      const wanted = MOVEMENTS.has(name) ? meaning(name, data) : undefined
      const own =
        wanted === undefined
          ? -1
          : receipts.findIndex(
              (r, n) => !owned.has(n) && r.funcName === name && meaning(r.funcName, r.content) === wanted,
            )
      if (own >= 0) owned.add(own)
      const [from, to] = parties(name, data, tx.publisher)
      rows.push({
        ...fixed,
        index: at,
        contract,
        action: actionName,
        data,
        returned: tx.receipt.returns[at] ?? '',
        status: tx.receipt.statusCode,
        from,
        to,
        ownAction: true,
        ...(own >= 0 && name === 'auth.iost/signUp' ? { created: to } : {}),
        ...(own >= 0 ? movedBy(name, data) : {}),
        facts: plainFacts(tx, own < 0 ? undefined : receipts[own], { name, data, decimals }),
      })
    })
  receipts.forEach(({ funcName, content }, at) => {
    if (owned.has(at)) return
    if (base && funcName === 'token.iost/issue' && content.startsWith('["contribute"')) return
    const slash = funcName.indexOf('/')
    const [from, to] = parties(funcName, content, tx.publisher)
    rows.push({
      ...fixed,
      index: rows.length,
      contract: funcName.slice(0, slash),
      action: funcName.slice(slash + 1),
      data: content,
      returned: '',
      status: tx.receipt.statusCode,
      from,
      to,
      ownAction: false,
      ...(funcName === 'auth.iost/signUp' ? { created: to } : {}),
      ...movedBy(funcName, content),
      facts: plainFacts(tx, { funcName, content }, { name: funcName, data: content, decimals }),
    })
  })
  return rows
}

type NamedCall = {
  readonly name: string
  readonly data: string
  /** Decimals of the tokens, by symbol. */
  readonly decimals: ReadonlyMap<string, number>
}

/**
 * Computed from receipts alone. `own`: the receipt of the row's movement, if any. For a call, all receipts of
 * its transaction are searched.
 */
function plainFacts(
  tx: Transaction,
  own: Pick<Receipt, 'funcName' | 'content'> | undefined,
  { name, data, decimals }: NamedCall,
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

function movedBy(name: string, data: string): Pick<PlainRow, 'moved'> {
  if (!name.startsWith('token.iost/')) return {}
  const [token, first, second] = argumentsOf(data) ?? []
  return {
    moved: {
      token: String(token),
      between: name.startsWith('token.iost/transfer') ? [first, second] : [first],
    },
  }
}

function keysOf(row: PlainRow, contracts: ReadonlySet<string>): readonly string[] {
  const names = new Set([row.from, row.to, ...(row.ownAction ? [row.publisher] : [])].filter(possible))
  const keys = [...names].map(name => `account/${name}`)
  if (row.status !== 'SUCCESS') for (const name of names) keys.push(`failed/${name}`)
  if (contracts.has(row.contract)) {
    keys.push(`contract/${row.contract}`)
    if (/^[A-Za-z0-9_]{1,32}$/.test(row.action)) {
      keys.push(`action/${row.contract}/${row.action}`)
      if (row.ownAction && possible(row.publisher)) keys.push(`called/${row.publisher}/${row.contract}/${row.action}`)
    }
  }
  if (row.created !== undefined) keys.push(`created/${row.publisher}`)
  if (row.deployed !== undefined) keys.push('contracts')
  const { moved } = row
  if (moved !== undefined) {
    keys.push(`token/${moved.token}`)
    for (const name of names) if (moved.between.includes(name)) keys.push(`moved/${name}/${moved.token}`)
    const giver = row.action === 'issue' ? undefined : moved.between[0]
    const taker = row.action === 'destroy' ? undefined : moved.between.at(-1)
    for (const name of names)
      if (name === taker && taker !== giver) keys.push(`in/${name}`, `in/${name}/${moved.token}`)
  }
  return keys
}

/** The call whose answers page through a list of records: `account-tx` is short for `get-account-tx`. */
export type ListCall = {
  readonly module: string
  readonly action: string
  readonly params: Readonly<Record<string, string>>
}

/**
 * The call for a list's key. undefined for sub-accounts (`created/…`) and `contracts`, which are not lists of records.
 */
export function listCall(key: string): ListCall | undefined {
  const [kind, name = '', part = '', last = ''] = key.split('/')
  switch (kind) {
    case 'account':
      return { module: 'account', action: 'account-tx', params: { account: name } }
    case 'moved':
      return { module: 'account', action: 'account-tx', params: { account: name, token: part } }
    case 'in': {
      const token = part === '' ? {} : { token: part }
      return { module: 'account', action: 'account-tx', params: { account: name, direction: 'in', ...token } }
    }
    case 'called':
      return {
        module: 'account',
        action: 'account-tx',
        params: { account: name, func_name: `${part}/${last}` },
      }
    case 'failed':
      return { module: 'account', action: 'account-tx', params: { account: name, failed: '1' } }
    case 'token':
      return { module: 'token', action: 'token-tx', params: { token: name } }
    case 'contract':
      return { module: 'contract', action: 'contract-tx', params: { contract: name } }
    case 'action':
      return { module: 'contract', action: 'contract-tx', params: { contract: name, action_name: part } }
    default:
      return undefined
  }
}
