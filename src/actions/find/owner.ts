import { isHash, toContractId } from '#chain/names.ts'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import type { DocOf } from '#indices/define.ts'
import { listOf, lists } from '#indices/list.ts'
import { producers } from '#indices/producer.ts'
import { tokens } from '#indices/token.ts'
import { collections, countOfItems, holdings } from '#indices/token721.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { RecordFilters } from '../request/record-filters.ts'
import { requireFound, unknown } from './loading.ts'
import { isListedAtHead } from './numbered.ts'

/**
 * The owner for a given name: the exact name if it ever occurred on the chain. Otherwise, for 32 bytes of
 * base58, the contract with that id. A base58 text may be a public key that owns tokens, or a contract's id
 * without its prefix. Throws 'not_found' or 'loading' when neither ever occurred.
 */
export async function resolveOwner(context: Context, name: string): Promise<string> {
  // Nearly every owner has rows, and its list is read next anyway.
  if ((await context.view.get(lists, listOf.account(name))) !== undefined) return name
  const owner = (await findOwners(context.view, [name])).get(name)
  if (owner !== undefined) return owner
  // A name that is not stored yet may already be in the head blocks.
  const above = [name, toContractId(name)].find(each => isListedAtHead(context.head, listOf.account(each)))
  if (above === undefined) throw unknown(context, 'account', name)
  return above
}

/** The owner (`resolveOwner`) of each name, without duplicates; unknown names as in `requireFound`. */
export async function resolveOwners(context: Context, names: readonly string[]): Promise<readonly string[]> {
  const [only, ...others] = names
  if (only !== undefined && others.length === 0) return [await resolveOwner(context, only)]
  const owners = await findOwners(context.view, names)
  return [
    ...new Set(
      requireFound(
        context,
        'account',
        names.map(name => [name, owners.get(name)]),
      ),
    ),
  ]
}

/** The owners for given names, by name, all found together. Names that never occurred are missing from the result. */
export async function findOwners(view: View, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const known = await findKnownNames(view, new Set(names))
  const bare = names.filter(name => !known.has(name) && isHash(name))
  const deployed = bare.length === 0 ? known : await findKnownNames(view, new Set(bare.map(toContractId)))
  const owners = new Map<string, string>()
  for (const name of names) {
    if (known.has(name)) owners.set(name, name)
    else if (deployed.has(toContractId(name))) owners.set(name, toContractId(name))
  }
  return owners
}

/** The names that signed up, were deployed, ever had a balance or an NFT, or occur in a transaction. */
async function findKnownNames(view: View, names: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const all = [...names]
  const found = await Promise.all([
    view.getMany(accounts, all),
    view.getMany(contracts, all),
    view.getMany(lists, all.map(listOf.account)),
    // NFTs transferred inside contracts have no row that names their owner.
    view.getMany(holdings, all.map(countOfItems)),
  ])
  const known = new Set(all.filter((_name, at) => found.some(docs => docs[at] !== undefined)))
  const others = all.filter(name => !known.has(name))
  const rows = await Promise.all(
    others.map(name => view.page(balances, 'rowsOfOwner', { group: name, offset: 0, limit: 1 })),
  )
  for (const [at, name] of others.entries()) if ((rows[at] ?? []).length > 0) known.add(name)
  return known
}

/** The indices of things that requests name. */
const NAMED = { account: accounts, contract: contracts, token: tokens, producer: producers, collection: collections }

type NamedDocs = { readonly [K in keyof typeof NAMED]: DocOf<(typeof NAMED)[K]> }

/** The document of a thing that a request names. Throws 'not_found' or 'loading'. */
export function requireNamed<K extends keyof NamedDocs>(
  context: Pick<Context, 'view' | 'node'>,
  kind: K,
  name: string,
): Promise<NamedDocs[K]>
export async function requireNamed(
  context: Pick<Context, 'view' | 'node'>,
  kind: keyof NamedDocs,
  name: string,
): Promise<object> {
  const found = await context.view.get(NAMED[kind], name)
  if (found === undefined) throw unknown(context, kind, name)
  return found
}

type LookupContext = Pick<Context, 'view' | 'node' | 'head'>

/** Throws 'not_found' or 'loading' unless the token exists: it is stored or has rows in the head blocks. */
export async function requireToken(context: LookupContext, symbol: string): Promise<void> {
  if ((await context.view.get(tokens, symbol)) !== undefined) return
  if (!isListedAtHead(context.head, listOf.token(symbol))) throw unknown(context, 'token', symbol)
}

/** Throws 'not_found' or 'loading' unless the contract exists: it is stored or has rows in the head blocks. */
export async function requireContract(context: LookupContext, id: string): Promise<void> {
  if ((await context.view.get(contracts, id)) !== undefined) return
  if (!isListedAtHead(context.head, listOf.contract(id))) throw unknown(context, 'contract', id)
}

/** Filters with names in their form on the chain. Throws 'not_found' or 'loading' if one does not exist. */
export async function resolveFilters(context: Context, filters: RecordFilters): Promise<RecordFilters> {
  const { token, func_name, counterparty } = filters
  if (token !== undefined) {
    const stored = await context.view.getMany(tokens, token)
    requireFound(
      context,
      'token',
      token.map((symbol, at) => {
        const exists = stored[at] !== undefined || isListedAtHead(context.head, listOf.token(symbol))
        return [symbol, exists ? symbol : undefined]
      }),
    )
  }
  if (func_name !== undefined) await requireContract(context, func_name.contract)
  return counterparty === undefined ? filters : { ...filters, counterparty: await resolveOwner(context, counterparty) }
}
