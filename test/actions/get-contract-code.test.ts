import { expect, test } from 'bun:test'
import { recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { action, chainOf, genesis, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { nodeText } from '#test/support/stores/node-text.ts'

const CHANGES = /^(?:setCode|updateCode|initSetCode|updateNativeCode)$/

/** The last setter of the code of each contract, computed from the blocks. */
async function lastChanges(): Promise<ReadonlyMap<string, { readonly block: string; readonly tx_hash: string }>> {
  const last = new Map<string, { readonly block: string; readonly tx_hash: string }>()
  for (const { block } of await recordedBlocks())
    for (const { hash, actions, receipt } of block.transactions) {
      if (receipt.statusCode !== 'SUCCESS') continue
      actions.forEach(({ contract, actionName, data }, at) => {
        if (contract !== 'system.iost' || !CHANGES.test(actionName)) return
        const [first = ''] = JSON.parse(data) as readonly string[]
        const id =
          actionName === 'setCode'
            ? JSON.parse(receipt.returns[at] ?? '[]')[0]
            : actionName === 'updateCode'
              ? JSON.parse(first).ID
              : first
        last.set(id, { block: String(block.height), tx_hash: hash })
      })
    }
  return last
}

test('get-contract-code: source, language and version of every contract match the node, its last setter matches the blocks', async () => {
  const last = await lastChanges()
  const wrong: unknown[] = []
  let [written, updated] = [0, 0]
  for (const [call, text] of await rpcAnswers()) {
    const contract_id = /^GET \/getContract\/([^/]+)\/true$/.exec(call)?.[1]
    if (contract_id === undefined) continue
    const { language, version, orig_code } = JSON.parse(text)
    const said = await ask('get-contract-code', { contract: contract_id })
    const expected =
      said.code === '' ? { code: '', block: '', tx_hash: '' } : { code: orig_code, ...last.get(contract_id) }
    if (!Bun.deepEquals(said, { contract_id, language, version, ...expected }, true)) wrong.push(said)
    const isOfUser = contract_id.startsWith('Contract')
    if (isOfUser && said.code === '') wrong.push(contract_id)
    written += Number(said.code !== '')
    updated += Number(isOfUser && said.tx_hash !== contract_id.slice('Contract'.length))
  }
  expect({ wrong, written: written > 5, updated: updated > 0 }).toEqual({
    wrong: [],
    written: true,
    updated: true,
  })
})

test('get-contract-code: the code is found if text follows the arguments of the action that deployed it', async () => {
  const code = JSON.stringify({ info: { lang: 'javascript', version: '1', abi: [] }, code: 'class A {}' })
  const made = transaction({ actions: [action('system.iost/setCode', `${JSON.stringify([code])} // A`)] })
  const { store, destroy } = await temporarySqlite()
  await commitRuns(store, [chainOf([genesis()], [{ ...made, body: nodeText(made) }])], { lib: 1 })
  const contract = `Contract${made.hash}`
  const answer = await ask('get-contract-code', { contract }, { deps: { store } })
  expect(answer).toMatchObject({ contract_id: contract, code: 'class A {}', tx_hash: made.hash })
  await destroy()
})
