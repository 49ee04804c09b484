/** @jsxImportSource @kitajs/html */
import { partsOfFuncName } from '#chain/effects.ts'
import { isPossibleName, isTokenSymbol } from '#chain/names.ts'
import type { KnownOwners } from '../find/known.ts'
import {
  type ActionSignature,
  type Argument,
  type CalledAction,
  isNamedByCode,
  isOwner,
  parseCallArguments,
  UNKNOWN_SIGNATURE,
} from '../format/arguments.ts'
import { byAction, type CallTree, nested, type ShownReceipt } from '../format/calls.ts'
import { extractReason, failureWords, findFailedAction } from '../format/outcome.ts'
import { actionText, cut, cutWord, shortened, visible } from '../format/text.ts'
import { formatIso, isNanoseconds } from '../format/time.ts'
import { contractsMade, limitText, type TransactionDetail } from '../format/transaction.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Count, None, Until, When } from './amount.tsx'
import { Contract, Name, Owner } from './name.tsx'
import { Card, type Fact, Facts, Note } from './section.tsx'
import { More, Rows } from './table.tsx'
import { AllOfIt, ChainText, rawHref } from './text.tsx'

type TransactionFactsProps = {
  readonly visit: Visit
  readonly transaction: TransactionDetail
  /** `-1`: the transaction is in no irreversible block. */
  readonly blockNumber: string
  /** ISO-8601 UTC: the block's time, or the time set by the signer. */
  readonly time: string
}

/** The facts of a transaction: times, signers and costs. */
export function TransactionFacts({ visit, transaction, blockNumber, time }: TransactionFactsProps): Html {
  const { say } = visit
  const { publisher, signers, tx_receipt, amount_limit, referred_tx, expiration } = transaction
  const made = contractsMade(transaction)
  const facts: readonly (Fact | false)[] = [
    ['Block', '区块', blockNumber === '-1' ? <None /> : <Name visit={visit} kind="block" id={blockNumber} isWhole />],
    ['Time', '时间', <When visit={visit} iso={time} />],
    ['Valid until', '有效期至', <Expiry visit={visit} until={String(expiration)} />],
    ['Publisher', '发布者', <Owner visit={visit} id={publisher} />],
    ['Other signers', '其他签名者', <Texts texts={signers.map(visible)} />],
    ['Gas paid', '支付的 gas', <Gas visit={visit} transaction={transaction} />],
    ['RAM', 'RAM', <Ram visit={visit} usage={Object.entries(tx_receipt.ram_usage ?? {})} />],
    ['Spending limit', '授权限额', <Texts texts={amount_limit.map(limit => limitText(limit, say))} />],
    made.length > 0 && [
      'Deployed',
      '部署的合约',
      <div>
        {made.map(id => (
          <div>
            <Name visit={visit} kind="contract" id={id} isWhole />
          </div>
        ))}
      </div>,
    ],
    referred_tx !== '' && [
      'Delayed transaction',
      '所执行的延迟交易',
      <Name visit={visit} kind="tx" id={referred_tx} isWhole />,
    ],
  ]
  return <Facts visit={visit} facts={facts} />
}

/** The time until which a block could include the transaction. The genesis transaction has none. */
const Expiry = ({ visit, until }: Props<{ until: string }>): Html =>
  isNanoseconds(until) && until !== '0' ? <Until visit={visit} iso={formatIso(until)} /> : <None />

type GasProps = Pick<TransactionFactsProps, 'visit' | 'transaction'>

/** The gas paid, and the limits set by the signer. No gas is paid before the transaction is in a block. */
function Gas({ visit, transaction }: GasProps): Html {
  const { publisher, gas_limit, gas_ratio, tx_receipt } = transaction
  const { say } = visit
  return (
    <>
      {tx_receipt.gas_usage === undefined ? <None /> : <Count value={tx_receipt.gas_usage} />}{' '}
      <small>
        <span safe>{say({ en: 'by ', zh: '支付者 ' })}</span>
        <Owner visit={visit} id={publisher} />
        <span safe>{say({ en: ', limit ', zh: '，上限 ' })}</span>
        <Count value={gas_limit} />
        <span safe>{say({ en: ', ratio ', zh: '，倍率 ' })}</span>
        <Count value={gas_ratio} />
      </small>
    </>
  )
}

/** The RAM in bytes, by the account that paid for it or got it back. */
const Ram = ({ visit, usage }: Props<{ usage: readonly (readonly [payer: string, bytes: string])[] }>): Html =>
  usage.length === 0 ? (
    <None />
  ) : (
    <div>
      {usage.map(([payer, bytes]) => (
        <div>
          <Count value={bytes.replace('-', '')} />{' '}
          <small>
            <span safe>
              {visit.say(
                bytes.startsWith('-')
                  ? { en: 'bytes, returned to ', zh: '字节，退还给 ' }
                  : { en: 'bytes, paid by ', zh: '字节，支付者 ' },
              )}
            </span>
            <Owner visit={visit} id={payer} />
          </small>
        </div>
      ))}
    </div>
  )

/** Texts, safe to display, one per line. */
const Texts = ({ texts }: { readonly texts: readonly string[] }): Html =>
  texts.length === 0 ? (
    <None />
  ) : (
    <div>
      {texts.map(text => (
        <div>
          <bdi safe>{text}</bdi>
        </div>
      ))}
    </div>
  )

type CalledProps = {
  readonly visit: Visit
  readonly action: CalledAction
  /** undefined: the contract does not have the action now. */
  readonly signature: ActionSignature | undefined
  /** The block of a code change after the action; undefined: none is known. */
  readonly changedIn: string | undefined
  readonly owners: KnownOwners
  /** Position among the actions, from 1. */
  readonly number: number
  /** Whether the action made the transaction fail. */
  readonly isFailed: boolean
}

/** An action with its arguments. */
export function Called(props: CalledProps): Html {
  const { visit, action, signature, changedIn, owners, number, isFailed } = props
  const { say } = visit
  const args = parseCallArguments(action, signature ?? UNKNOWN_SIGNATURE)
  return (
    <section class={isFailed ? 'called failed' : 'called'} id={`action-${number}`}>
      <Heading {...props} />
      {args === undefined ? (
        <ChainText visit={visit} text={action.data} whole={rawHref(visit)} />
      ) : (
        <Rows
          visit={visit}
          rows={args.map((argument, at) => ({ ...argument, number: at + 1 }))}
          none={{ en: 'No arguments.', zh: '没有参数。' }}
          columns={[
            ['Argument', '参数', ({ name, number }) => <code safe>{name === '' ? `#${number}` : cutWord(name)}</code>],
            ['Type', '类型', ({ type }) => <code safe>{cutWord(type)}</code>, 'end'],
            ['Value', '值', argument => <Value visit={visit} argument={argument} owners={owners} />, 'bare'],
          ]}
        />
      )}
      {changedIn !== undefined && isNamedByCode(action, signature) && (
        <p class="none">
          <span safe>
            {say({
              en: 'The code that these argument names come from was changed after this transaction, in block',
              zh: '参数名所依据的代码在此交易之后有更新，更新所在区块：',
            })}
          </span>{' '}
          <Name visit={visit} kind="block" id={changedIn} isWhole />
        </p>
      )}
    </section>
  )
}

/** More than any contract's id has. */
const MAX_NAME = 120

/** Contract and action. The contract has a link if its page exists. */
function Heading({ visit, action, signature, owners, isFailed }: CalledProps): Html {
  const { say } = visit
  // A failed transaction may name things that do not exist.
  const isDone = owners === 'all'
  return (
    <h3>
      {signature === undefined && !isDone ? (
        <bdi safe>{cut(action.contract, MAX_NAME)}</bdi>
      ) : (
        <Contract visit={visit} id={action.contract} />
      )}{' '}
      <bdi safe>{actionText(action.action_name)}</bdi>
      {isFailed && (
        <>
          {' '}
          <span class="badge bad" safe>
            {say({ en: 'Failed here', zh: '在此失败' })}
          </span>
        </>
      )}
    </h3>
  )
}

/** A note on the origin of the argument names. */
export const NamesOfCode = ({ visit }: { readonly visit: Pick<Visit, 'say'> }): Html => (
  <Note
    visit={visit}
    text={{
      en: 'Argument names come from the current code of the contract.',
      zh: '参数名取自合约当前的代码。',
    }}
  />
)

/** An amount with thousands separators. Any longer one, which only a failed call has, is shown as a text. */
const AMOUNT = /^\d{1,40}(?:\.\d{1,40})?$/

/** The value of an argument, with a link if it names a thing of the chain. */
function Value({ visit, argument, owners }: Props<{ argument: Argument; owners: KnownOwners }>): Html {
  const { value } = argument
  const name = argument.isOfChain ? argument.name : ''
  const isDone = owners === 'all'
  if (isOwner(argument) && isPossibleName(value) && (isDone || owners.has(value)))
    return <Owner visit={visit} id={value} />
  if (isDone && name === 'token' && isTokenSymbol(value)) return <Name visit={visit} kind="token" id={value} />
  if ((name === 'amount' || name === 'bytes') && AMOUNT.test(value)) return <Count value={value} />
  if (name === 'until' && isNanoseconds(value))
    return (
      <data value={value} title={value}>
        <Until visit={visit} iso={formatIso(value)} />
      </data>
    )
  if (value === '') return <span class="none">""</span>
  return <ChainText visit={visit} text={value} whole={rawHref(visit)} />
}

type ReceiptsProps = {
  readonly visit: Visit
  readonly actions: readonly CalledAction[]
  readonly receipts: readonly ShownReceipt[]
  /** Maximum number of displayed receipts. */
  readonly most: number
}

/** The receipts of a transaction, by action and with those of inner calls nested, as far as that can be derived. */
export function Receipts({ visit, actions, receipts, most }: ReceiptsProps): Html {
  const { say } = visit
  const roots = nested(receipts.slice(0, most))
  const divided =
    actions.length > 1 && Math.max(actions.length, receipts.length) <= most ? byAction(actions, roots) : undefined
  return (
    <Card visit={visit} id="receipts" title={{ en: 'Calls and receipts', zh: '调用与收据' }}>
      {roots.length === 0 ? (
        <Note visit={visit} text={{ en: 'No receipts.', zh: '没有收据。' }} />
      ) : divided === undefined ? (
        <Tree visit={visit} calls={roots} />
      ) : (
        <div>
          {divided.map((calls, at) =>
            calls.length === 0 ? (
              ''
            ) : (
              <section class="called">
                <h3>
                  <a href={`#action-${at + 1}`} safe>
                    {say({ en: `Action ${at + 1}`, zh: `方法 ${at + 1}` })}
                  </a>
                </h3>
                <Tree visit={visit} calls={calls} />
              </section>
            ),
          )}
        </div>
      )}
      {roots.length > 0 && actions.length > 1 && divided === undefined && (
        <Note
          visit={visit}
          text={{
            en: 'In the order of the chain, which does not say which action each belongs to.',
            zh: '按链上顺序排列；链上未记录各收据所属的方法。',
          }}
        />
      )}
      <More visit={visit} shown={most} total={receipts.length} whole={rawHref(visit)} />
    </Card>
  )
}

const Tree = ({ visit, calls }: Props<{ calls: readonly CallTree[] }>): Html => (
  <ul class="call-tree">
    {calls.map(({ func_name, content, inner }) => (
      <li>
        <Writer visit={visit} func={func_name} /> <ChainText visit={visit} text={content} whole={rawHref(visit)} />
        {inner.length !== 0 && <Tree visit={visit} calls={inner} />}
      </li>
    ))}
  </ul>
)

function Writer({ visit, func }: Props<{ func: string }>): Html {
  const { contract, name } = partsOfFuncName(func)
  return (
    <span class="what">
      <Contract visit={visit} id={contract} /> <bdi safe>{actionText(name)}</bdi>
    </span>
  )
}

/** Index of the action that made a transaction fail; undefined: it did not fail, or its receipt names no action. */
export const findFailedIndex = ({ tx_receipt, actions }: TransactionDetail): number | undefined =>
  tx_receipt.status_code === 'SUCCESS' ? undefined : findFailedAction(tx_receipt.message ?? '', actions)

/** The failure reason: an explanation if a system contract gave the reason, and always the receipt's text. */
export function WhyFailed({ visit, transaction }: Props<{ transaction: TransactionDetail }>): Html {
  const { say } = visit
  const { tx_receipt, actions } = transaction
  const reason = extractReason(tx_receipt.message ?? '')
  const at = findFailedIndex(transaction)
  const action = at === undefined ? undefined : actions[at]
  const words = failureWords(reason.text, action)
  return (
    <div class="reason">
      {words !== undefined && (
        <p class="words">
          <bdi safe>{say(words)}</bdi>
        </p>
      )}
      {action !== undefined && at !== undefined && (
        <p>
          <span safe>
            {say({
              en:
                actions.length === 1
                  ? 'It failed in the action '
                  : `It failed in action ${at + 1} of ${actions.length}, `,
              zh: actions.length === 1 ? '失败的方法：' : `失败于第 ${at + 1} 个方法（共 ${actions.length} 个）：`,
            })}
          </span>
          <a href={`#action-${at + 1}`}>
            <bdi safe>{`${shortened(visible(action.contract))} ${actionText(action.action_name)}`}</bdi>
          </a>
          <span safe>{say({ en: '.', zh: '。' })}</span>
        </p>
      )}
      <pre class="bad chain" safe>
        {`${visible(reason.text)}${reason.isWhole ? '' : '…'}`}
      </pre>
      {!reason.isWhole && <AllOfIt visit={visit} href={rawHref(visit)} />}
      <p safe>{say({ en: 'Nothing moved: only the gas was charged.', zh: '没有代币变动：仅扣除了 gas。' })}</p>
    </div>
  )
}
