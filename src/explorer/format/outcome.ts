import type { Text } from '#actions/text.ts'
import { beginningOf } from './visible.ts'

/** The codes of receipts (core/tx of the node) in words. Unknown codes are shown unchanged. */
const CODES: ReadonlyMap<string, Text> = new Map([
  ['SUCCESS', { en: 'Success', zh: '成功' }],
  ['GAS_RUN_OUT', { en: 'Out of gas', zh: 'gas 耗尽' }],
  ['BALANCE_NOT_ENOUGH', { en: 'Gas or RAM could not be paid', zh: '无法支付 gas 或 RAM' }],
  ['WRONG_PARAMETER', { en: 'Wrong parameter', zh: '参数错误' }],
  ['RUNTIME_ERROR', { en: 'An action failed', zh: '方法执行失败' }],
  ['TIMEOUT', { en: 'Took too long', zh: '执行超时' }],
  ['WRONG_TX_FORMAT', { en: 'Wrong format', zh: '交易格式错误' }],
  ['DUPLICATE_SET_CODE', { en: 'The contract exists already', zh: '合约已存在' }],
  ['UNKNOWN_ERROR', { en: 'Unknown error', zh: '未知错误' }],
])

/** The code of a receipt in words. */
export const outcomeOf = (code: string): Text => CODES.get(code) ?? { en: code, zh: code }

/** Maximum length of a failure reason that is shown without a press. */
const REASON = 600

/**
 * The reason of a failure, from the message of its receipt. The node writes the whole failing action before
 * the reason (`running action Action{…}\n error: …`) and may add positions in the contract's code after it.
 */
export const reasonOf = (message: string): ReturnType<typeof beginningOf> => {
  const at = message.lastIndexOf('error: ')
  return beginningOf((at < 0 ? message : message.slice(at + 'error: '.length)).trim(), REASON)
}
