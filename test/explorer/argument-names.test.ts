import { expect, setDefaultTimeout, test } from 'bun:test'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

const explorer = await explorerOn()

type Contracts = { readonly contracts: readonly { readonly contract_id: string }[] }
type Abi = { readonly abis: readonly { readonly name: string; readonly args: readonly string[] }[] }
type Code = { readonly code: string; readonly block: string }
type Actions = { readonly actions: readonly unknown[] }
type Rows = {
  readonly transactions: readonly {
    readonly tx_hash: string
    readonly block: string
    readonly data: readonly unknown[]
  }[]
}

const CHANGED = 'The code that these argument names come from was changed after this transaction'
const NAMED = 'Argument names come from the current code of the contract.'

/** The recorded contracts are not minified: a method begins a line, or follows a brace. */
function plainNames(code: string, method: string): readonly string[] {
  const [, names = ''] = new RegExp(`(?:^|[\\n{};\\s])${method}\\s*\\(([^)]*)\\)\\s*\\{`).exec(code) ?? []
  return names.split(',').flatMap(name => (name.trim() === '' ? [] : [name.trim()]))
}

const codesIn = (html: string): readonly string[] =>
  [...html.matchAll(/<td class="lead"><code>([^<]*)<\/code>/g)].map(([, name = '']) => name)

test("a contract's page has the names of its actions' arguments from the contract's code", async () => {
  const { contracts } = await explorer.call<Contracts>('base/get-contract-list', { size: '100' })
  let named = 0
  for (const { contract_id } of contracts.filter(each => each.contract_id.startsWith('Contract'))) {
    const params = { contract: contract_id }
    const { abis } = await explorer.call<Abi>('contract/get-contract-abi', params)
    const { code } = await explorer.call<Code>('contract/get-contract-code', params)
    const { html } = await explorer.visit(`/contract/${contract_id}`)
    for (const { name, args } of abis) {
      const names = plainNames(code, name)
      const isKnown = names.length === args.length
      const shown = args.map((type, at) => (isKnown ? `${names[at]}: ${type}` : type)).join(', ')
      expect([contract_id, name, html.includes(`<code>${shown}</code>`)]).toEqual([contract_id, name, true])
      named += Number(isKnown && args.length > 0)
    }
  }
  expect(named).toBeGreaterThan(30)
})

/** A contract whose code was changed between calls of the action, and a contract with its original code. */
const CALLED = [
  ['ContractD772oDQpykrtxkDE4Ypy8NSbfQhXF2RxUQG879FSRcXg', 'ping'],
  ['Contractjnq6aRFWX1qhc1pSFFAN3ZdG7zb4kQvWGMWzxKjozKJ', 'play'],
] as const

test("a transaction's page says where the argument names come from, and whether the code was changed after the call", async () => {
  const seen = { before: 0, after: 0, other: 0 }
  for (const [contract, action_name] of CALLED) {
    const { code, block } = await explorer.call<Code>('contract/get-contract-code', { contract })
    const params = { contract, action_name, size: '40' }
    const { transactions } = await explorer.call<Rows>('contract/get-contract-tx', params)
    const names = plainNames(code, action_name)
    for (const { tx_hash, block: calledIn, data } of transactions) {
      const { actions } = await explorer.call<Actions>('transaction/get-transaction-action', { tx_hash })
      if (actions.length > 1) continue
      const { html, text } = await explorer.visit(`/tx/${tx_hash}`)
      const fits = data.length === names.length
      const isBefore = Number(calledIn) < Number(block)
      const said = [text.includes(NAMED), text.includes(CHANGED)]
      expect([tx_hash, ...said]).toEqual([tx_hash, fits, fits && isBefore])
      expect([tx_hash, codesIn(html)]).toEqual([tx_hash, fits ? names : data.map((_, at) => `#${at + 1}`)])
      seen[!fits ? 'other' : isBefore ? 'before' : 'after'] += 1
    }
  }
  expect(Object.values(seen).every(count => count > 0)).toBe(true)
})
