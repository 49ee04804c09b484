import { parseExact, writeJson } from '#chain/json.ts'
import { accounts } from '#indices/account.ts'
import { compareCount } from './node-count.ts'
import { type NodeSides, reportDifference, storageRows } from './storage-rows.ts'

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
export async function compareAccounts(sides: NodeSides): Promise<void> {
  let there = 0
  for await (const page of storageRows(sides, AUTH, 'auth-')) {
    const ids = page.map(([name]) => name)
    const docs = await sides.stored.getMany(accounts, ids)
    for (const [at, [name, value]] of page.entries()) {
      there += 1
      const expected = toStoredFields(parseExact(value) as unknown as Account)
      for (const field of ['permissions', 'groups'] as const) {
        const doc = docs[at]
        const stored = doc && writeJson(doc[field])
        if (stored !== expected[field])
          reportDifference(sides, accounts, { id: name, field, stored, expected: expected[field] })
      }
    }
    sides.onProgress(page.length)
  }
  await compareCount(sides, { index: accounts, id: 'all', counts: () => true }, there)
}

/** The fields in their stored form: sorted by name, weights and thresholds as text. */
const toStoredFields = ({ permissions, groups }: Account) => ({
  permissions: writeJson(
    byName(permissions).map(({ name, groups: names, items, threshold }) => ({
      name,
      group_names: names ?? [],
      items: items.map(toStoredItem),
      threshold: writeJson(threshold),
    })),
  ),
  groups: writeJson(byName(groups).map(({ name, items }) => ({ name, items: items.map(toStoredItem) }))),
})

const toStoredItem = ({ id, is_key_pair, weight, permission }: Item) => ({
  id,
  is_key_pair: is_key_pair === true,
  weight: writeJson(weight),
  permission: permission ?? '',
})

const byName = (holders: Readonly<Record<string, Holder>>): readonly Holder[] =>
  Object.values(holders).sort((a, b) => (a.name < b.name ? -1 : 1))
