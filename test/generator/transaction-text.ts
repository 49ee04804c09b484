import { statusText } from './hashing.ts'
import { signedTimes } from './time.ts'
import { CHAIN, type Tx } from './transaction.ts'

const GAS_DECIMALS = 100

const PLAIN = /^[ -~\n]*$/

/** JSON of a text in ASCII only. A single other character would double the size of every answer with it. */
export function quoted(value: string): string {
  const json = JSON.stringify(value)
  return PLAIN.test(json)
    ? json
    : json.replace(/[^ -~]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const gasText = (gas: number): string => String(gas / GAS_DECIMALS)

function receiptsText(receipts: readonly { readonly name: string; readonly content: string }[]): string {
  let text = ''
  for (const { name, content } of receipts)
    text += `${text === '' ? '' : ', '}{"func_name":"${name}", "content":${quoted(content)}}`
  return text
}

export function listed(texts: readonly string[]): string {
  let list = ''
  for (const text of texts) list += `${list === '' ? '' : ', '}${quoted(text)}`
  return list
}

/** The node's JSON of a transaction with its receipt. */
export function transactionText(tx: Tx, hash: string, height: number): string {
  let actions = ''
  for (const { contract, name, data } of tx.actions)
    actions += `${actions === '' ? '' : ', '}{"contract":"${contract}", "action_name":"${name}", "data":${quoted(data)}}`
  const ram = tx.ram.map(([payer, bytes]) => `"${payer}":"${bytes}"`).join(', ')
  const [time, expiration] = signedTimes(height)
  return (
    `{"hash":"${hash}", "time":"${time}", "expiration":"${expiration}", "gas_ratio":1, "gas_limit":4000000, "delay":"${tx.delay}", ` +
    `"chain_id":${CHAIN}, "actions":[${actions}], "signers":[${listed(tx.signers)}], "publisher":"${tx.publisher}", ` +
    `"referred_tx":"${tx.referred}", "amount_limit":[{"token":"*", "value":"unlimited"}], "tx_receipt":{"tx_hash":"${hash}", ` +
    `"gas_usage":${gasText(tx.gas)}, "ram_usage":{${ram}}, "status_code":"${statusText(tx.status)}", ` +
    `"message":${quoted(tx.message)}, "returns":[${listed(tx.returns)}], "receipts":[${receiptsText(tx.receipts)}]}}`
  )
}

/** The fixed parts of a base transaction's JSON, between its hash, time and the parent's gas × 100. */
export type BaseParts = readonly [afterTime: string, afterGas: string, afterHash: string]

/** `witness`: key of the parent block's witness. */
export const baseParts = (
  witness: string,
  receipts: readonly { readonly name: string; readonly content: string }[],
): BaseParts => [
  `", "expiration":"0", "gas_ratio":1, "gas_limit":1000000, "delay":"0", "chain_id":${CHAIN}, ` +
    `"actions":[{"contract":"base.iost", "action_name":"exec", "data":"[{\\"parent\\":[\\"${witness}\\", \\"`,
  `\\", false]}]"}], "signers":[], "publisher":"base.iost", "referred_tx":"", "amount_limit":[], "tx_receipt":{"tx_hash":"`,
  `", "gas_usage":0, "ram_usage":{}, "status_code":"SUCCESS", "message":"", "returns":["[\\"\\"]"], ` +
    `"receipts":[${receiptsText(receipts)}]}}`,
]

/** The node's JSON of a base transaction. */
export const baseText = (
  [afterTime, afterGas, afterHash]: BaseParts,
  { hash, time, gas }: { readonly hash: string; readonly time: string; readonly gas: number },
): string => `{"hash":"${hash}", "time":"${time}${afterTime}${gas}${afterGas}${hash}${afterHash}`
