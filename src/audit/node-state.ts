import { IOST_DECIMALS, toUnits } from '#chain/amount.ts'
import { memberSpans, parseExact, parseJson, writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { accounts } from '#indices/account.ts'
import { balanceId, balances, type Frozen } from '#indices/balance.ts'
import type { AnyIndex, StateIndex } from '#indices/registry.ts'
import { voteId, votes } from '#indices/vote.ts'
import { type Node, STORAGE_PAGE } from '#node/port.ts'
import type { Audit, StoredDocument } from '#store/port.ts'
import { ABSENT, type Finding } from './compare.ts'

const BEGIN = 1 << 10

/**
 * A set of texts that only tells new ones from known ones: 16 to 32 bytes per text, whatever its length. It stores 64
 * bits of each text's hash: among ten million, the chance of a collision is below one in a hundred thousand.
 */
export function createTextSet() {
  let slots = new BigUint64Array(BEGIN)
  let count = 0
  /** Index of the hash, or of the free slot for it; 0 marks a free slot. */
  const slotOf = (hash: bigint): number => {
    let at = Number(hash % BigInt(slots.length))
    while (slots[at] !== 0n && slots[at] !== hash) at = (at + 1) % slots.length
    return at
  }
  const grow = (): void => {
    const before = slots
    slots = new BigUint64Array(before.length * 2)
    for (const hash of before) if (hash !== 0n) slots[slotOf(hash)] = hash
  }
  return {
    /** Adds a text; true when it was not in the set. */
    add: (text: string): boolean => {
      const hash = BigInt(Bun.hash(text)) || 1n
      const at = slotOf(hash)
      if (slots[at] === hash) return false
      slots[at] = hash
      count += 1
      if (count * 2 > slots.length) grow()
      return true
    },
  }
}

/** The node's storage and the stored data, at one height. */
type NodeSides = {
  readonly node: Node
  readonly stored: Audit
  readonly found: (finding: Finding) => void
  readonly onProgress: (rows: number) => void
  readonly signal: AbortSignal
}

/** Reports a field that differs from the node's value; `stored` undefined: no document is stored. */
const reportDifference = (
  { found }: Pick<NodeSides, 'found'>,
  { name }: AnyIndex,
  {
    id,
    field,
    stored = ABSENT,
    expected,
  }: Pick<Finding, 'id' | 'field' | 'expected'> & { readonly stored: string | undefined },
): void => found({ index: name, id, field, stored, expected, by: 'node' })

/** Compares the balances, votes and accounts of a store with the node's; `begin` is called for each of the three. */
export async function compareNodeState(begin: (stage: string) => NodeSides): Promise<void> {
  await compareBalances(begin("the node's balances"))
  await compareVotes(begin("the node's votes"))
  await compareAccounts(begin("the node's accounts"))
}

/** Thrown when the node's last irreversible block is not, or is no longer, the published one. */
export class OtherHeight extends Error {
  readonly height: number
  constructor(height: number) {
    super(`The node returns the state of block ${height}.`)
    this.height = height
  }
}

type Row = readonly [key: string, value: string]

/**
 * All rows of a contract's maps that begin with `prefix`, without the prefix, page by page. A node may repeat
 * a key in the same page or a later one; the first key of each page repeats the last one of the page before.
 * Each key is returned once. Throws `OtherHeight`.
 */
const storageRows = async function* (
  { node, stored, signal }: Pick<NodeSides, 'node' | 'stored' | 'signal'>,
  contract: string,
  prefix: string,
): AsyncGenerator<readonly Row[]> {
  const met = createTextSet()
  for (let from: string | undefined; ; ) {
    const page = await node.storage({ contract, type: 'MAP', prefix, from }, signal)
    if (page.height !== stored.at.height || page.hash !== stored.at.hash) throw new OtherHeight(page.height)
    const rows = page.rows.filter(([key]) => met.add(key))
    if (rows.length > 0) yield rows.map(([key, value]) => [key.slice(prefix.length), value] as const)
    const furthest = [...page.rows.map(([key]) => key), from ?? ''].sort().at(-1)
    // A page that does not advance would be returned forever.
    if (page.rows.length < STORAGE_PAGE || furthest === from) return
    from = furthest
  }
}

/** Compares the number of stored documents that count with the number of the node's rows; `id` describes them. */
async function compareCount<I extends StateIndex>(
  sides: NodeSides,
  { index, id, counts }: { readonly index: I; readonly id: string; counts(found: StoredDocument<I>): boolean },
  expected: number,
): Promise<void> {
  let stored = 0
  for await (const page of sides.stored.scan(index)) stored += page.filter(counts).length
  if (stored !== expected)
    reportDifference(sides, index, { id, field: 'documents', stored: String(stored), expected: String(expected) })
}

/** The stored documents of the node's rows, each with its id and the node's value. */
async function readStored<I extends StateIndex, V>(
  { stored }: NodeSides,
  index: I,
  rows: readonly (readonly [id: string, value: V])[],
) {
  const docs = await stored.getMany(
    index,
    rows.map(([id]) => id),
  )
  return rows.map(([id, value], at) => ({ id, value, doc: docs[at] }))
}

const AUTH = 'auth.iost'

type Item = {
  readonly id: unknown
  readonly is_key_pair: unknown
  readonly weight: unknown
  readonly permission?: unknown
}
type Holder = {
  readonly name: string
  readonly groups?: readonly string[]
  readonly items: readonly Item[]
  readonly threshold?: unknown
}
type Account = {
  readonly permissions: Readonly<Record<string, Holder>>
  readonly groups: Readonly<Record<string, Holder>>
}

/** Checks that every account of auth.iost is stored with its permissions and groups, and that no others are. */
async function compareAccounts(sides: NodeSides): Promise<void> {
  let there = 0
  for await (const page of storageRows(sides, AUTH, 'auth-')) {
    for (const { id, value, doc } of await readStored(sides, accounts, page)) {
      there += 1
      const expected = toStoredFields(parseExact(value) as unknown as Account)
      for (const field of ['permissions', 'groups'] as const) {
        const stored = doc && writeJson(doc[field])
        if (stored !== expected[field])
          reportDifference(sides, accounts, { id, field, stored, expected: expected[field] })
      }
    }
    sides.onProgress(page.length)
  }
  await compareCount(sides, { index: accounts, id: 'all', counts: () => true }, there)
}

/** The fields in their stored form: sorted by name, weights and thresholds as text. */
const toStoredFields = ({ permissions, groups }: Account) => ({
  permissions: writeJson(
    sortHolders(permissions).map(({ name, groups: names, items, threshold }) => ({
      name,
      group_names: names ?? [],
      items: items.map(toStoredItem),
      threshold: writeJson(threshold),
    })),
  ),
  groups: writeJson(sortHolders(groups).map(({ name, items }) => ({ name, items: items.map(toStoredItem) }))),
})

const toStoredItem = ({ id, is_key_pair, weight, permission }: Item) => ({
  id,
  is_key_pair: is_key_pair === true,
  weight: writeJson(weight),
  permission: permission ?? '',
})

const sortHolders = (holders: Readonly<Record<string, Holder>>): readonly Holder[] =>
  Object.values(holders).sort((a, b) => (a.name < b.name ? -1 : 1))

const TOKEN = 'token.iost'

/**
 * Compares every balance and frozen amount with the rows of token.iost. `TB<owner>-<token>` has the available
 * amount without frozen amounts that are due but not merged yet, `TF<owner>-<token>` has the frozen amounts.
 */
async function compareBalances(sides: NodeSides): Promise<void> {
  const due = new Map<string, bigint>()
  for await (const page of storageRows(sides, TOKEN, 'TF')) await compareFrozen(sides, page, due)
  let positive = 0
  const compare = async (amounts: readonly (readonly [id: string, amount: bigint])[]): Promise<void> => {
    for (const { id, value: amount, doc } of await readStored(sides, balances, amounts)) {
      if (amount > 0n) positive += 1
      const stored = doc?.amount
      if ((stored ?? 0n) !== amount)
        reportDifference(sides, balances, { id, field: 'amount', stored: stored?.toString(), expected: `${amount}` })
    }
    sides.onProgress(amounts.length)
  }
  for await (const page of storageRows(sides, TOKEN, 'TB')) {
    const amounts = balanceRows(page).map(([id, value]) => {
      const released = due.get(id) ?? 0n
      due.delete(id)
      return [id, BigInt(value) + released] as const
    })
    await compare(amounts)
  }
  // The remaining balances have only amounts that came due.
  await compare([...due])
  const counts = ({ doc }: StoredDocument<typeof balances>) => doc !== undefined && doc.amount > 0n
  await compareCount(sides, { index: balances, id: 'above zero', counts }, positive)
}

/** The rows of a (token, owner); other rows list an owner's tokens. Owners have no hyphen. */
const balanceRows = (page: readonly Row[]): readonly Row[] =>
  page.flatMap(([key, value]) => {
    const hyphen = key.indexOf('-')
    return hyphen < 0 ? [] : [[balanceId(key.slice(hyphen + 1), key.slice(0, hyphen)), value] as const]
  })

async function compareFrozen(sides: NodeSides, page: readonly Row[], due: Map<string, bigint>): Promise<void> {
  for (const { id, value, doc } of await readStored(sides, balances, balanceRows(page))) {
    const entries = decodeFrozen(value)
    const now = sides.stored.at.time
    for (const [amount, time] of entries) if (BigInt(time) <= now) due.set(id, (due.get(id) ?? 0n) + BigInt(amount))
    const locked = writeJson(entries.filter(([, time]) => BigInt(time) > now))
    const stored = doc?.frozen_list
    if (writeJson(stored ?? []) !== locked)
      reportDifference(sides, balances, {
        id,
        field: 'frozen_list',
        stored: stored && writeJson(stored),
        expected: locked,
      })
  }
}

/** Decodes a value that is JSON text of base64 of JSON: `[{"Amount":…,"Ftime":…}]`. */
function decodeFrozen(value: string): readonly Frozen[] {
  const list = parseExact(Buffer.from(parseJson(value) as string, 'base64').toString())
  return ((list as readonly { readonly Amount: unknown; readonly Ftime: unknown }[] | null) ?? []).map(
    ({ Amount, Ftime }) => [integer(Amount), integer(Ftime)] as const,
  )
}

function integer(value: unknown): string {
  const text = writeJson(value)
  if (!/^-?\d+$/.test(text)) throw new Failure('bad_block', `The node stores an invalid frozen amount: ${text}.`)
  return text
}

const VOTE = 'vote.iost'
/**
 * Rows of votes for producers, the first vote of vote.iost (made in genesis): `u_1-<voter>` → {producer:
 * [votes, …]}.
 */
const PRODUCERS = 'u_1-'

/** Compares every vote for a producer with the node's, and checks that no others are stored. */
async function compareVotes(sides: NodeSides): Promise<void> {
  let positive = 0
  for await (const page of storageRows(sides, VOTE, PRODUCERS)) {
    const rows = page.flatMap(([voter, value]) =>
      parseNodeVotes(value).map(([producer, units]) => [voteId(producer, voter), units] as const),
    )
    for (const { id, value: units, doc } of await readStored(sides, votes, rows)) {
      if (units > 0n) positive += 1
      const stored = doc?.votes
      if ((stored ?? 0n) !== units)
        reportDifference(sides, votes, { id, field: 'votes', stored: stored?.toString(), expected: `${units}` })
    }
    sides.onProgress(rows.length)
  }
  const counts = ({ doc }: StoredDocument<typeof votes>) => doc !== undefined && doc.votes > 0n
  await compareCount(sides, { index: votes, id: 'above zero', counts }, positive)
}

/** Producers may be named `12345` or `__proto__`, so the keys are read from the text, not from an object. */
const parseNodeVotes = (value: string): readonly (readonly [producer: string, units: bigint])[] =>
  [...memberSpans(value)].map(([producer, [from, to]]) => {
    const [amount] = parseJson(value.slice(from, to)) as readonly unknown[]
    if (typeof amount !== 'string')
      throw new Failure('bad_block', `The node stores votes for ${producer} that are not a string.`)
    return [producer, toUnits(amount, IOST_DECIMALS)] as const
  })
