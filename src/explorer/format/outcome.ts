import type { Text } from '#actions/define.ts'
import { parseChainArguments } from '#chain/effects.ts'
import { formatGrouped } from './amount.ts'
import type { CalledAction } from './arguments.ts'
import { cutText, revealInvisible } from './text.ts'

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
export const describeOutcome = (code: string): Text => CODES.get(code) ?? { en: code, zh: code }

/** Maximum length of a failure reason that is shown without a press. */
const REASON = 600

/**
 * The reason of a failure, from the message of its receipt. The node writes the whole failing action before
 * the reason (`running action Action{…}\n error: …`) and may add positions in the contract's code after it.
 */
export function extractReason(message: string): ReturnType<typeof cutText> {
  const at = message.lastIndexOf('error: ')
  return cutText((at < 0 ? message : message.slice(at + 'error: '.length)).trim(), REASON)
}

/** The running action in a node's failure message. */
const RUNNING = /^running action Action\{Contract: ([^,]*), ActionName: ([^,]*), Data: ([\s\S]*)$/
/** The point at which the node truncated the arguments. */
const CUT = /(?:\.\.\. error: |\}\n error: )[\s\S]*$/

/**
 * Index of the action that made a transaction fail, by the message of its receipt. The node may have
 * truncated its arguments in it. undefined: the message names no action, or matches several different ones.
 */
export function findFailedAction(message: string, actions: readonly CalledAction[]): number | undefined {
  const [, contract, name, rest = ''] = RUNNING.exec(message) ?? []
  const data = rest.replace(CUT, '')
  const fits = actions.flatMap((action, at) =>
    action.contract === contract && action.action_name === name && action.data.startsWith(data) ? [at] : [],
  )
  const [first] = fits
  const different = new Set(fits.map(at => actions[at]?.data))
  return different.size === 1 ? first : undefined
}

/** A failure reason of a system contract, and the explanation for the action. */
type Rule = readonly [form: RegExp, says: (found: readonly string[], args: readonly string[]) => Text]

const always = (en: string, zh: string) => (): Text => ({ en, zh })

const SCANT: Rule[1] = ([, has = '', needs = ''], [token = '', owner = '']) => {
  const [had, needed] = [formatGrouped(has), formatGrouped(needs)]
  return token === '' || owner === ''
    ? {
        en: `The balance was not enough: ${had} of the ${needed} needed.`,
        zh: `余额不足：需要 ${needed}，仅有 ${had}。`,
      }
    : {
        en: `${owner} had ${had} ${token}, and ${needed} was needed.`,
        zh: `${owner} 仅有 ${had} ${token}，而需要 ${needed}。`,
      }
}

const RULES: readonly Rule[] = [
  [/^balance not enough (\S+) < (\S+)$/, SCANT],
  [
    /^token (\S+) exceed amountLimit in (tx|abi)\. need (\S+)$/,
    ([, token = '', where, need = '']) =>
      where === 'tx'
        ? {
            en: `It would have moved ${formatGrouped(need)} ${token}, more than the signer's spending limit allows.`,
            zh: `将动用 ${formatGrouped(need)} ${token}，超出签名者设定的授权限额。`,
          }
        : {
            en: `It would have moved ${formatGrouped(need)} ${token}, more than the contract's ABI allows this action.`,
            zh: `将动用 ${formatGrouped(need)} ${token}，超出合约 ABI 为此方法设定的限额。`,
          },
  ],
  [/^out of gas/i, always('The transaction used up its gas limit before it ended.', '执行完成前已用尽 gas 上限。')],
  [
    /^(?:transaction has no permission|require auth failed\.?|permission denied)$/,
    always('The signers had no permission for this action.', '签名者没有执行此方法的权限。'),
  ],
  [
    /^token not exists$/,
    (_, [token = '']) =>
      token === ''
        ? { en: 'The token did not exist.', zh: '代币不存在。' }
        : { en: `The token ${token} did not exist.`, zh: `代币 ${token} 不存在。` },
  ],
  [
    /^invalid account (\S+)$/,
    ([, name = '']) => ({ en: `The account ${name} did not exist.`, zh: `账户 ${name} 不存在。` }),
  ],
  [/^token can't transfer$/, always('This token cannot be transferred.', '此代币不可转账。')],
  [
    /^transfer need issuer permission$/,
    always("Transfers of this token need its issuer's permission.", '此代币的转账须经发行者许可。'),
  ],
  [/^memo too large$/, always('The memo was longer than 512 bytes.', '备注超过 512 字节。')],
  [/^invalid amount$/, always('The amount was not valid for this token.', '数量不符合此代币的要求。')],
  [/^supply too much$/, always("It would have exceeded the token's maximum supply.", '将超出该代币的最大供应量。')],
  [
    /^prepare contract: contract (\S+) not found$/,
    ([, id = '']) => ({ en: `The contract ${id} did not exist.`, zh: `合约 ${id} 不存在。` }),
  ],
  [
    /^prepare contract: abi (\S+) not found$/,
    ([, name = '']) => ({ en: `The contract had no action ${name}.`, zh: `合约没有方法 ${name}。` }),
  ],
  [
    /^prepare contract: error parse \w+ arg /,
    always("An argument was not of the type that the contract's ABI requires.", '参数类型与合约 ABI 不符。'),
  ],
  [
    /^id existed > (\S+)$/,
    ([, name = '']) => ({ en: `The account ${name} existed already.`, zh: `账户 ${name} 已存在。` }),
  ],
  [
    /^id invalid\./,
    always(
      'The account name was not valid: it needs 5 to 11 characters of a–z, 0–9 and _.',
      '账户名无效：须为 5 至 11 个字符，仅限 a–z、0–9 与 _。',
    ),
  ],
  [
    /^token symbol invalid\./,
    always(
      'The token name was not valid: it needs 2 to 16 characters of a–z, 0–9 and _.',
      '代币名称无效：须为 2 至 16 个字符，仅限 a–z、0–9 与 _。',
    ),
  ],
  [/^token exists$/, always('A token of this name existed already.', '已有同名代币。')],
  [
    /^amount too large\. max amount = (\S+)$/,
    ([, most = '']) => ({
      en: `The amount was too large: at most ${formatGrouped(most)} was possible.`,
      zh: `数量过大：最多 ${formatGrouped(most)}。`,
    }),
  ],
  [
    /^(\S+) did not pledge for (\S+)$/,
    ([, pledger = '', other = '']) => ({
      en: `${pledger} had pledged nothing for ${other}.`,
      zh: `${pledger} 没有为 ${other} 质押。`,
    }),
  ],
  [/^update refused$/, always('The contract refuses updates.', '合约拒绝更新。')],
  [/^contract exists$/, always('The contract existed already.', '合约已存在。')],
]

const WRAPPED = /^(?:Uncaught exception: )?(?:Error: )?/

/**
 * Explains why a transaction failed. Only reasons of system contracts are explained; a contract's own text is
 * not translated. undefined: there is no explanation for the reason.
 * @param action the failed action, if it is known
 */
export function failureWords(reason: string, action: CalledAction | undefined): Text | undefined {
  let bare = reason.trim()
  for (let inner = bare.replace(WRAPPED, ''); inner !== bare; inner = bare.replace(WRAPPED, '')) bare = inner
  // Other contracts may use the same text for something else.
  const args = action?.contract === 'token.iost' ? (parseChainArguments(action.data) ?? []) : []
  const isOfOwner = /^(?:transfer|transferFreeze|destroy)$/.test(action?.action_name ?? '')
  const names = args.slice(0, isOfOwner ? 2 : 1).map(each => (typeof each === 'string' ? each : ''))
  for (const [form, says] of RULES) {
    const found = form.exec(bare)
    if (found === null) continue
    const text = says(
      found.map(each => each ?? ''),
      names,
    )
    return { en: revealInvisible(text.en), zh: revealInvisible(text.zh) }
  }
  return undefined
}
