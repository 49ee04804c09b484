import { afterAll, beforeAll, expect, test } from 'bun:test'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { measureJson, tryParseJson } from '#chain/json.ts'
import type { Store } from '#store/port.ts'
import { blockSource } from '#test/support/nodes/block-source.ts'
import { askText } from '../support/stores/ask.ts'
import { chainOf, genesis, hashOf, START } from '../support/stores/hand-made.ts'
import { loadOnce, temporarySqlite } from '../support/stores/loading.ts'

/**
 * The deepest nesting in a transaction of 65,536 bytes. A number of 19 digits inside keeps readers off their fast path.
 */
const DEPTH = 32_000
const nest = (open: string, close: string) =>
  `${open.repeat(DEPTH / open.length)}9223372036854775807.10${close.repeat(DEPTH / open.length)}`
const DEEP = nest('[', ']')
const OBJECTS = nest('{"a":', '}')

/** Data of actions and content of receipts, for every part of the program that parses them. */
const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['Contractdeep/any', `[${DEEP}]`],
  ['token.iost/transfer', `["iost","alice00","bobby00","1.00000000",${DEEP}]`],
  ['token.iost/transfer', OBJECTS],
  ['token.iost/create', `["deep","alice00",9223372036854775807,${DEEP}]`],
  ['vote_producer.iost/vote', `[${DEEP},"a","1"]`],
  ['vote_producer.iost/topupVoterBonus', `[${DEEP},"1","alice00"]`],
  ['auth.iost/assignPermission', `["alice00",${DEEP}]`],
  ['system.iost/setCode', `[${JSON.stringify(`{"ID":"","info":{"x":${DEEP}},"code":""}`)}]`],
  ['system.iost/receipt', '['.repeat(60_000)],
]

/** Settings of a token are JSON written by the signer. The receipt contains them in base64. */
const SETTINGS = Buffer.from(`{"decimal":8,"x":${DEEP}}`).toString('base64')
const SAID: readonly (readonly [name: string, text: string])[] = [
  ['Contractdeep/any', `[${DEEP}]`],
  ['Contractdeep/transfer', OBJECTS],
  ['token.iost/create', `["deep","alice00",1000,"${SETTINGS}"]`],
]

/** A transaction in the node's JSON, with each of the texts as an action. */
function nested(name: string, told: boolean) {
  const hash = hashOf(name)
  const part = (named: string) => named.split('/') as [string, string]
  return JSON.stringify({
    ...{ hash, time: String(START), expiration: '0', gas_ratio: 1, gas_limit: 1000000, delay: '0', chain_id: 1020 },
    actions: TEXTS.map(([named, data]) => ({ contract: part(named)[0], action_name: part(named)[1], data })),
    ...{ signers: [], publisher: 'alice00', referred_tx: '', amount_limit: [] },
    tx_receipt: {
      ...{ tx_hash: hash, gas_usage: 0, ram_usage: {} },
      status_code: told ? 'SUCCESS' : 'RUNTIME_ERROR',
      message: DEEP,
      returns: told ? TEXTS.map(() => DEEP) : [],
      receipts: told ? SAID.map(([func_name, content]) => ({ func_name, content })) : [],
    },
  })
}
const TOLD = nested('told', true)
const FAILED = nested('failed', false)

let store: Store
let destroy: () => Promise<void>
beforeAll(async () => {
  ;({ store, destroy } = await temporarySqlite())
  await store.create()
  const node = blockSource(chainOf([genesis()], [decodeTransaction(TOLD), decodeTransaction(FAILED)]))
  expect(await loadOnce(node, store)).toEqual({ height: 1 })
})
afterAll(() => destroy())

const asked = (action: string, params: Readonly<Record<string, string>>) => askText(action, params, { deps: { store } })

test('texts nested as deep as the chain allows are loaded and answered unchanged', async () => {
  expect(measureJson(DEEP).depth).toBe(DEPTH)
  for (const [name, body] of [
    ['told', TOLD],
    ['failed', FAILED],
  ] as const) {
    const tx_hash = hashOf(name)
    const shown = body.replace('"expiration":"0"', '"expiration":0').replace('"delay":"0"', '"delay":0')
    expect((await asked('get-transaction-detail', { tx_hash })).includes(shown)).toBe(true)
    const { actions, tx_receipt } = JSON.parse(body)
    expect(JSON.parse(await asked('get-transaction-action', { tx_hash })).actions).toEqual(actions)
    expect(JSON.parse(await asked('get-transaction-receipt', { tx_hash })).receipts).toEqual(tx_receipt.receipts)
  }
})

test('rows of an account contain them unchanged: arrays as arrays, other text as one text', async () => {
  const text = await asked('get-account-tx', { account: 'alice00', size: '50' })
  const missing = TEXTS.filter(([name, data]) => {
    const written = Array.isArray(tryParseJson(data)) ? data : JSON.stringify([data])
    return !text.includes(`"action_name":"${name.split('/')[1]}","data":${written},`)
  })
  expect(missing.map(([name]) => name)).toEqual([])
})

test('a token with settings of that depth is loaded', async () => {
  expect(JSON.parse(await asked('get-token-detail', { token: 'deep' }))).toMatchObject({ symbol: 'deep' })
})
