/** @jsxImportSource @kitajs/html */

import type { Text } from '#actions/define.ts'
import { getBlockDetail } from '#actions/get-block.ts'
import { getTransactionDetail } from '#actions/get-transaction.ts'
import { findExistingContracts, findExistingOwners } from '../find/known.ts'
import { readTransactionMovements } from '../find/movements.ts'
import { extractReason, failureWords } from '../format/outcome.ts'
import type { TransactionMovement } from '../format/record.ts'
import { describeBlockOrigin } from '../format/state.ts'
import { actionText, revealInvisible, shortenName } from '../format/text.ts'
import { formatIso, isNanoseconds } from '../format/time.ts'
import {
  describeTransaction,
  isDelayed,
  limitText,
  listContractsMade,
  type TransactionDetail,
} from '../format/transaction.ts'
import { formatPagePath } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Count, None, Until, When } from '../part/amount.tsx'
import { More } from '../part/list.tsx'
import { Heading, Name, Owner } from '../part/name.tsx'
import { Card, type Fact, Facts } from '../part/section.tsx'
import { AllOfIt, Folded, isRaw, rawHref, rawText, spreadJson } from '../part/text.tsx'
import { Actions, findFailedIndex, MAX_SHOWN, Receipts } from '../part/transaction.tsx'
import { Movements, Outcome } from '../part/transactions.tsx'

/** A transaction by its hash: token movements come first. */
export const transactionPage: Page = {
  path: '/tx/{id}',
  show: async visit => {
    const { say, id } = visit
    const answer = await visit.ask(getTransactionDetail, { tx_hash: id })
    const { transaction, block_number } = answer
    if (isRaw(visit)) return rawText(transaction.hash, spreadJson(transaction), 'json')
    const [moved, block, known, owners] = await Promise.all([
      readTransactionMovements(visit, [transaction]),
      block_number === '-1' ? undefined : visit.ask(getBlockDetail, { number: block_number }),
      findExistingContracts(visit, transaction.actions),
      findExistingOwners(visit, transaction),
    ])
    const title = say({ en: 'Transaction', zh: '交易' })
    return {
      title: `${title} ${transaction.hash}`,
      path: formatPagePath('tx', transaction.hash),
      asOf: describeBlockOrigin(visit.at, { status: answer.status, height: Number(block_number) }),
      description: say(describeTransaction(transaction, moved.get(transaction.hash))),
      body: (
        <>
          <Heading visit={visit} kind={title} id={transaction.hash} />
          <Summary
            visit={visit}
            status={answer.status}
            transaction={transaction}
            movements={moved.get(transaction.hash)}
          />
          <section class="card">
            <TransactionFacts
              visit={visit}
              transaction={transaction}
              blockNumber={block_number}
              time={formatIso(block?.block.time ?? transaction.time)}
            />
          </section>
          <Actions visit={visit} transaction={transaction} blockNumber={block_number} known={known} owners={owners} />
          <Receipts visit={visit} actions={transaction.actions} receipts={transaction.tx_receipt.receipts ?? []} />
          <Folded
            visit={visit}
            id="json"
            title={{ en: 'The whole transaction as JSON', zh: '完整交易（JSON）' }}
            text={spreadJson(transaction)}
          />
        </>
      ),
    }
  },
}

type SummaryProps = {
  readonly visit: Visit
  readonly status: string
  readonly transaction: TransactionDetail
  /** undefined: not known yet. */
  readonly movements: readonly TransactionMovement[] | undefined
}

/** Whether the transaction succeeded, with its token movements or the reason for its failure. */
function Summary({ visit, status, transaction, movements }: SummaryProps): Html {
  const { tx_receipt } = transaction
  const code = tx_receipt.status_code
  const isFailed = code !== undefined && code !== 'SUCCESS'
  return (
    <Card
      visit={visit}
      id="outcome"
      title={isFailed ? { en: 'Why it failed', zh: '失败原因' } : { en: 'Token movements', zh: '代币变动' }}
      aside={
        <span class="badges">
          {code !== undefined && <Outcome visit={visit} code={code} />} <Finality visit={visit} status={status} />
        </span>
      }
    >
      {isFailed ? (
        <WhyFailed visit={visit} transaction={transaction} />
      ) : (
        <Movements
          visit={visit}
          movements={(movements ?? []).slice(0, MAX_SHOWN)}
          none={movements === undefined ? describeUnknown(code) : describeNoMovements(transaction)}
        />
      )}
      <More visit={visit} shown={MAX_SHOWN} total={movements?.length ?? 0} />
    </Card>
  )
}

const describeUnknown = (code: string | undefined): Text =>
  code === undefined
    ? { en: 'Known once a block has the transaction.', zh: '交易打包后方可得知。' }
    : { en: 'Available once its block is irreversible.', zh: '所在区块不可逆后显示。' }

/**
 * The reason why no movements are listed. A base transaction rewards the previous block, which is not a
 * movement of its own. The actions of a delayed transaction run in another one (go-iost core/tx, delay).
 */
function describeNoMovements(transaction: TransactionDetail): Text {
  if (transaction.publisher === 'base.iost')
    return {
      en: 'No tokens moved, apart from the contribute that rewards the previous block.',
      zh: '除上一区块的出块奖励 contribute 外，没有代币变动。',
    }
  return isDelayed(transaction)
    ? {
        en: 'No tokens moved here: the actions are delayed, and run in a later transaction unless they are cancelled.',
        zh: '此交易没有代币变动：其方法延迟执行，除非被取消，否则由之后的另一笔交易执行。',
      }
    : { en: 'No tokens moved.', zh: '没有代币变动。' }
}

function Finality({ visit: { say }, status }: Props<{ status: string }>): Html {
  const text = {
    IRREVERSIBLE: { en: 'Irreversible', zh: '不可逆' },
    PACKED: { en: 'In a block that may still be replaced', zh: '所在区块仍可能被替换' },
  }[status] ?? { en: 'Waiting for a block', zh: '等待打包' }
  return (
    <span class={status === 'IRREVERSIBLE' ? 'badge' : 'badge warn'} safe>
      {say(text)}
    </span>
  )
}

/** The failure reason: an explanation if a system contract gave the reason, and always the receipt's text. */
function WhyFailed({ visit, transaction }: Props<{ transaction: TransactionDetail }>): Html {
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
            <bdi safe>{`${shortenName(revealInvisible(action.contract))} ${actionText(action.action_name)}`}</bdi>
          </a>
          <span safe>{say({ en: '.', zh: '。' })}</span>
        </p>
      )}
      <pre class="bad chain" safe>
        {`${revealInvisible(reason.text)}${reason.isWhole ? '' : '…'}`}
      </pre>
      {!reason.isWhole && <AllOfIt visit={visit} href={rawHref(visit)} />}
      <p safe>{say({ en: 'Nothing moved: only the gas was charged.', zh: '没有代币变动：仅扣除了 gas。' })}</p>
    </div>
  )
}

type TransactionFactsProps = {
  readonly visit: Visit
  readonly transaction: TransactionDetail
  /** `-1`: the transaction is in no irreversible block. */
  readonly blockNumber: string
  /** ISO-8601 UTC: the block's time, or the time set by the signer. */
  readonly time: string
}

/** The facts of a transaction: times, signers and costs. */
function TransactionFacts({ visit, transaction, blockNumber, time }: TransactionFactsProps): Html {
  const { say } = visit
  const { publisher, signers, tx_receipt, amount_limit, referred_tx, expiration } = transaction
  const made = listContractsMade(transaction)
  const facts: readonly (Fact | false)[] = [
    ['Block', '区块', blockNumber === '-1' ? <None /> : <Name visit={visit} kind="block" id={blockNumber} isWhole />],
    ['Time', '时间', <When visit={visit} iso={time} />],
    ['Valid until', '有效期至', <Expiry visit={visit} until={String(expiration)} />],
    ['Publisher', '发布者', <Owner visit={visit} id={publisher} />],
    ['Other signers', '其他签名者', <Texts texts={signers.map(revealInvisible)} />],
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
