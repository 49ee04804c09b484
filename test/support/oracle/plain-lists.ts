/** What a row's lists depend on. */
export type PlainListedRow = {
  readonly contract: string
  readonly action: string
  readonly status: string
  readonly from: string
  readonly to: string
  readonly publisher: string
  readonly ownAction: boolean
  /** The account that the row signed up. */
  readonly created?: string | undefined
  /** The contract that the row deployed. */
  readonly deployed?: string | undefined
  /** The token that the row moved, and the sender and recipient, whether or not these names can exist. */
  readonly moved?: { readonly token: string; readonly between: readonly unknown[] } | undefined
}

/** A row with the names that may have lists, and whether its contract exists. */
type NamedRow = PlainListedRow & { readonly names: readonly string[]; readonly isDeployed: boolean }

/** The call whose answers page through a list of records: `account-tx` is short for `get-account-tx`. */
export type ListCall = {
  readonly module: string
  readonly action: string
  readonly params: Readonly<Record<string, string>>
}

type PlainListKind = {
  /** What the keys of a row's lists of this kind have after the kind; `''`: nothing. */
  readonly keys: (row: NamedRow) => readonly string[]
  /** The call for the parts of such a key; absent: it is not a list of records. */
  readonly call?: (...parts: readonly string[]) => ListCall
}

const accountTx = (params: ListCall['params']): ListCall => ({ module: 'account', action: 'account-tx', params })
const contractTx = (params: ListCall['params']): ListCall => ({ module: 'contract', action: 'contract-tx', params })
const isListed = ({ isDeployed, action }: NamedRow): boolean => isDeployed && /^[A-Za-z0-9_]{1,32}$/.test(action)

/** The recipients of a row that moved a token, unless they are also its senders. */
function takers({ names, action, moved }: NamedRow): readonly string[] {
  if (moved === undefined || action === 'destroy') return []
  const giver = action === 'issue' ? undefined : moved.between[0]
  return names.filter(name => name === moved.between.at(-1) && name !== giver)
}

/** Every kind of list. A new one is named here, for the tests that compare or read every list. */
const KINDS: Readonly<Record<string, PlainListKind>> = {
  account: { keys: ({ names }) => names, call: (account = '') => accountTx({ account }) },
  failed: {
    keys: ({ status, names }) => (status === 'SUCCESS' ? [] : names),
    call: (account = '') => accountTx({ account, failed: '1' }),
  },
  contract: {
    keys: ({ isDeployed, contract }) => (isDeployed ? [contract] : []),
    call: (contract = '') => contractTx({ contract }),
  },
  action: {
    keys: row => (isListed(row) ? [`${row.contract}/${row.action}`] : []),
    call: (contract = '', action_name = '') => contractTx({ contract, action_name }),
  },
  called: {
    keys: row =>
      isListed(row) && row.ownAction && isPossible(row.publisher)
        ? [`${row.publisher}/${row.contract}/${row.action}`]
        : [],
    call: (account = '', ...name) => accountTx({ account, func_name: name.join('/') }),
  },
  created: { keys: ({ created, publisher }) => (created === undefined ? [] : [publisher]) },
  contracts: { keys: ({ deployed }) => (deployed === undefined ? [] : ['']) },
  token: {
    keys: ({ moved }) => (moved === undefined ? [] : [moved.token]),
    call: (token = '') => ({ module: 'token', action: 'token-tx', params: { token } }),
  },
  moved: {
    keys: ({ names, moved }) =>
      names.filter(name => moved?.between.includes(name)).map(name => `${name}/${moved?.token}`),
    call: (account = '', token = '') => accountTx({ account, token }),
  },
  in: {
    keys: row => takers(row).flatMap(name => [name, `${name}/${row.moved?.token}`]),
    call: (account = '', token) => accountTx({ account, direction: 'in', ...(token === undefined ? {} : { token }) }),
  },
}

/** The keys of all lists of a row: `account/…`, `called/…/…/…`, `contracts`. `contracts`: those that exist. */
export function keysOf(row: PlainListedRow, contracts: ReadonlySet<string>): readonly string[] {
  const names = [row.from, row.to, ...(row.ownAction ? [row.publisher] : [])].filter(isPossible)
  const named = { ...row, names: [...new Set(names)], isDeployed: contracts.has(row.contract) }
  return Object.entries(KINDS).flatMap(([kind, { keys }]) =>
    keys(named).map(rest => (rest === '' ? kind : `${kind}/${rest}`)),
  )
}

/** The call for a list's key. undefined: it is not a list of records. */
export function listCall(key: string): ListCall | undefined {
  const [kind = '', ...parts] = key.split('/')
  return KINDS[kind]?.call?.(...parts)
}

/** Whether a name can exist on the chain. */
export const isPossible = (name: unknown): name is string =>
  typeof name === 'string' &&
  /^(?:[a-z0-9_]{5,11}|0x[0-9a-f]{40}|Contract[1-9A-HJ-NP-Za-km-z]+|[a-z0-9_]+\.iost|[1-9A-HJ-NP-Za-km-z]{43,46}|0)$/.test(
    name,
  )

/** What a call or receipt of token.iost with these arguments moved; undefined: it is of another contract. */
export function movedBy(name: string, args: readonly unknown[]): PlainListedRow['moved'] {
  if (!name.startsWith('token.iost/')) return undefined
  const [token, first, second] = args
  return { token: String(token), between: name.startsWith('token.iost/transfer') ? [first, second] : [first] }
}
