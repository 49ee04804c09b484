import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFindings, findingText } from '#audit/compare.ts'
import { compareNodeState } from '#audit/node-state.ts'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { votes } from '#indices/vote.ts'
import { type Node, STORAGE_PAGE, type StoragePage } from '#node/port.ts'
import type { Audit } from '#store/port.ts'
import { replayedNode } from '#test/support/nodes/replayed-node.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const replay = replayedNode()
let stored: Audit
beforeAll(async () => {
  stored = await (await loadedStore()).audit()
})
afterAll(() => stored.close())

/**
 * The findings of the three comparisons and the number of rows that they read. `change` alters the stored documents.
 */
async function compared(change: (doc: unknown) => unknown = doc => doc, asked: Node = replay.node) {
  const found = createFindings(Number.POSITIVE_INFINITY)
  let rows = 0
  await compareNodeState(() => ({
    node: asked,
    stored: {
      ...stored,
      getMany: async (index, ids) => (await stored.getMany(index, ids)).map(doc => change(doc) as typeof doc),
    },
    found: found.add,
    onProgress: count => {
      rows += count
    },
    signal: new AbortController().signal,
  }))
  return { rows, lines: found.shown.map(findingText) }
}

test('node storage: every balance, vote and account of the recording matches the node', async () => {
  // 2207 balances, 633 votes, 279 accounts.
  expect(await compared()).toEqual({ rows: 3_119, lines: [] })
})

test('node storage: a key that the node repeats, in its page or in a later one, counts once', async () => {
  const known = new Map<string, StoragePage>()
  /** All rows of a prefix, in the node's order. */
  const whole = async (asked: Parameters<Node['storage']>[0]): Promise<StoragePage> => {
    const { from: _, ...all } = asked
    const key = JSON.stringify(all)
    let page = known.get(key) ?? (await replay.node.storage(all))
    for (let given = page.rows.length; !known.has(key) && given === STORAGE_PAGE; ) {
      const more = await replay.node.storage({ ...all, from: page.rows.at(-1)?.[0] ?? '' })
      page = { ...page, rows: [...page.rows, ...more.rows.slice(1)] }
      given = more.rows.length
    }
    known.set(key, page)
    return page
  }
  let repeated = 0
  const repeating: Node = {
    ...replay.node,
    storage: async asked => {
      const { rows: all, ...at } = await whole(asked)
      const left = all.filter(([key]) => asked.from === undefined || key >= asked.from)
      const rows = left.flatMap((each, place) => (place % 40 === 20 ? [each, each] : [each]))
      // The very first row is repeated in the middle of each later page.
      const early = asked.from === undefined ? [] : all.slice(0, 1)
      const page = [...rows.slice(0, 30), ...early, ...rows.slice(30)].slice(0, STORAGE_PAGE)
      repeated += page.length - new Set(page.map(([key]) => key)).size + early.length
      return { ...at, rows: page }
    },
  }
  expect(await compared(undefined, repeating)).toEqual({ rows: 3_119, lines: [] })
  expect(repeated).toBeGreaterThan(50)
})

test('node storage: differences are named with the value of the node', async () => {
  const one = await (await loadedStore()).read(async view => ({
    balance: await view.get(balances, 'iost/user_001'),
    vote: (await view.page(votes, 'voters', { group: 'prod_02', offset: 0, limit: 1 }))[0],
    account: await view.get(accounts, '__proto__'),
  }))
  const changes = new Map<unknown, object | undefined>([
    [one.balance?.id, { ...one.balance, amount: 7n }],
    [one.vote?.id, undefined],
    ['__proto__', { ...one.account, permissions: [] }],
  ])
  const idOf = (doc: unknown) => (doc as { readonly id?: string } | undefined)?.id
  expect((await compared(doc => (changes.has(idOf(doc)) ? changes.get(idOf(doc)) : doc))).lines).toEqual([
    `balances iost/user_001 amount: stored 7 expected ${one.balance?.amount} (node)`,
    `votes ${one.vote?.id} votes: stored nothing expected ${one.vote?.votes} (node)`,
    expect.stringMatching(/^accounts __proto__ permissions: stored \[\] expected \[\{"name":"active".* \(node\)$/),
  ])
})
