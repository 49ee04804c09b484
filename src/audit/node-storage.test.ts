import { afterAll, beforeAll, expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { votes } from '#indices/vote.ts'
import { createNode } from '#node/create-node.ts'
import type { Node } from '#node/port.ts'
import type { Replay } from '#replay/serve.ts'
import type { Audit } from '#store/port.ts'
import { loadedStore } from '#test/loaded.ts'
import { replayed } from '#test/loading.ts'
import { findings, findingText } from './finding.ts'
import { compareAccounts } from './node-accounts.ts'
import { compareBalances } from './node-balances.ts'
import { compareVotes } from './node-votes.ts'
import type { NodeSides } from './storage-rows.ts'

let replay: Replay
let node: Node
let stored: Audit
beforeAll(async () => {
  replay = await replayed()
  node = createNode({ urls: [replay.url] })
  stored = await (await loadedStore()).audit()
}, 60_000)
afterAll(async () => {
  await stored.close()
  node.close()
  await replay.stop()
})

/** What the three comparisons find, and how many rows they look at, where `change` stands for what is stored. */
const compared = async (change: (doc: unknown) => unknown = doc => doc) => {
  const found = findings(Number.POSITIVE_INFINITY)
  const store = await loadedStore()
  let rows = 0
  const sides: NodeSides = {
    node,
    stored,
    read: work =>
      store.read(view =>
        work({
          ...view,
          getMany: async (index, ids) =>
            (await view.getMany(index, ids)).map(doc => change(doc) as typeof doc),
        }),
      ),
    found: found.add,
    onLooked: count => {
      rows += count
    },
    signal: new AbortController().signal,
  }
  await compareBalances(sides)
  await compareVotes(sides)
  await compareAccounts(sides)
  return { rows, lines: found.shown.map(findingText) }
}

test('node storage: every balance, vote and account of the recording is as the node has it', async () => {
  // 2207 balances, 633 votes, 279 accounts.
  expect(await compared()).toEqual({ rows: 3_119, lines: [] })
})

test('node storage: what differs is named with the word of the node', async () => {
  const one = await (await loadedStore()).read(async view => ({
    balance: await view.get(balances, 'iost/user_001'),
    vote: (await view.page(votes, 'voters', { group: 'prod_02', offset: 0, limit: 1 }))[0],
    account: await view.get(accounts, '__proto__'),
  }))
  const lines = [
    ...(await compared(doc => (idOf(doc) === one.balance?.id ? { ...one.balance, amount: 7n } : doc))).lines,
    ...(await compared(doc => (idOf(doc) === one.vote?.id ? undefined : doc))).lines,
    ...(
      await compared(doc =>
        doc !== undefined && idOf(doc) === '__proto__' ? { ...one.account, permissions: [] } : doc,
      )
    ).lines,
  ]
  expect(lines).toEqual([
    `balances iost/user_001 amount: stored 7 expected ${one.balance?.amount} (node)`,
    `votes ${one.vote?.id} votes: stored nothing expected ${one.vote?.votes} (node)`,
    expect.stringMatching(
      /^accounts __proto__ permissions: stored \[\] expected \[\{"name":"active".* \(node\)$/,
    ),
  ])
}, 30_000)

const idOf = (doc: unknown): string | undefined => (doc as { readonly id?: string } | undefined)?.id
