import { describe, expect, test } from 'bun:test'
import { parseTree, rpcAnswers, type Tree } from '#test/support/nodes/recording.ts'
import { askText } from '#test/support/stores/ask.ts'

type Fields = ReadonlyMap<string, Tree>

function voteOrder(a: Tree, b: Tree): number {
  const [left, right] = [a as Fields, b as Fields]
  const votes = Number(right.get('votes')) - Number(left.get('votes'))
  return votes !== 0 ? votes : String(left.get('option')) < String(right.get('option')) ? -1 : 1
}

/** The node's answer without the fields that get-account-detail leaves out. Its votes are in random order. */
function expected(text: string): Fields {
  const account = new Map(parseTree(text) as Fields)
  for (const name of ['balance', 'balance_string', 'frozen_balances']) account.delete(name)
  account.set('vote_infos', (account.get('vote_infos') as readonly Tree[]).toSorted(voteOrder))
  return account
}

describe('get-account-detail', () => {
  test("get-account-detail: every account matches the node's answer", async () => {
    const wrong: string[] = []
    let count = 0
    for (const [call, text] of await rpcAnswers()) {
      const name = /^GET \/getAccount\/([^/]+)\/true$/.exec(call)?.[1]
      if (name === undefined) continue
      count += 1
      const answer = parseTree(await askText('get-account-detail', { account: name }))
      if (!Bun.deepEquals(answer, expected(text), true)) wrong.push(name)
    }
    expect({ count, wrong }).toEqual({ count: 279, wrong: [] })
  })
  test('get-account-detail: accepts names that are members of JavaScript objects', async () => {
    const text = await askText('get-account-detail', { account: '__proto__' })
    expect(text.startsWith('{"name":"__proto__",')).toBe(true)
  })
  test('get-account-detail: gas is text with numbers=string, RAM is always text', async () => {
    const text = await askText('get-account-detail', { account: 'busyhub' }, { numbers: 'string' })
    expect(text).toContain(
      '"gas_info":{"current_total":"20309028543.1","transferable_gas":"0","pledge_gas":"20309028543.1","increase_speed":"230011.5","limit":"60003000000","pledged_info":[]},"ram_info":{"available":"784029","used":"15971","total":"800000"}',
    )
  })
})
