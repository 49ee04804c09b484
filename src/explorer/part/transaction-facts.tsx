/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getTransactionDetail } from '#actions/get-transaction-detail.ts'
import { contractsMade } from '../format/made.ts'
import { limitText } from '../format/spending.ts'
import { isNanoseconds, isoOf } from '../format/time.ts'
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { type Fact, Facts } from './facts.tsx'
import { Name, Owner } from './name.tsx'
import { None } from './none.tsx'
import { Until, When } from './time.tsx'

/** The transaction of get-transaction-detail. */
export type Transaction = AnswerOf<typeof getTransactionDetail>['transaction']

/** Whether the actions run later, in a transaction that refers to this one. */
export const isDelayed = ({ delay }: Pick<Transaction, 'delay'>): boolean => Number(delay) > 0

type TransactionFactsProps = {
  readonly visit: Visit
  readonly transaction: Transaction
  /** `-1`: the transaction is in no irreversible block. */
  readonly blockNumber: string
  /** ISO-8601 UTC: the block's time, or the time set by the signer. */
  readonly time: string
}

/** The facts of a transaction: times, signers and costs. */
export const TransactionFacts = ({ visit, transaction, blockNumber, time }: TransactionFactsProps): Html => {
  const { say } = visit
  const { publisher, signers, tx_receipt, amount_limit, referred_tx, expiration } = transaction
  const facts: Fact[] = [
    [
      say({ en: 'Block', zh: '区块' }),
      blockNumber === '-1' ? <None /> : <Name visit={visit} kind="block" id={blockNumber} isWhole />,
    ],
    [say({ en: 'Time', zh: '时间' }), <When visit={visit} iso={time} />],
    [say({ en: 'Valid until', zh: '有效期至' }), <Expiry visit={visit} until={String(expiration)} />],
    [say({ en: 'Publisher', zh: '发布者' }), <Owner visit={visit} id={publisher} />],
    [say({ en: 'Other signers', zh: '其他签名者' }), <Texts texts={signers.map(visible)} />],
    [say({ en: 'Gas paid', zh: '支付的 gas' }), <Gas visit={visit} transaction={transaction} />],
    ['RAM', <Ram visit={visit} usage={Object.entries(tx_receipt.ram_usage ?? {})} />],
    [say({ en: 'Spending limit', zh: '授权限额' }), <Texts texts={amount_limit.map(limit => limitText(limit, say))} />],
  ]
  const made = contractsMade(transaction)
  if (made.length > 0)
    facts.push([
      say({ en: 'Deployed', zh: '部署的合约' }),
      <div>
        {made.map(id => (
          <div>
            <Name visit={visit} kind="contract" id={id} isWhole />
          </div>
        ))}
      </div>,
    ])
  if (referred_tx !== '')
    facts.push([
      say({ en: 'Delayed transaction', zh: '所执行的延迟交易' }),
      <Name visit={visit} kind="tx" id={referred_tx} isWhole />,
    ])
  return <Facts facts={facts} />
}

/** The time until which a block could include the transaction. The genesis transaction has none. */
const Expiry = ({ visit, until }: { readonly visit: Visit; readonly until: string }): Html =>
  isNanoseconds(until) && until !== '0' ? <Until visit={visit} iso={isoOf(until)} /> : <None />

type GasProps = Pick<TransactionFactsProps, 'visit' | 'transaction'>

/** The gas paid, and the limits set by the signer. No gas is paid before the transaction is in a block. */
const Gas = ({ visit, transaction }: GasProps): Html => {
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

type RamProps = {
  readonly visit: Visit
  readonly usage: readonly (readonly [payer: string, bytes: string])[]
}

/** The RAM in bytes, by the account that paid for it or got it back. */
const Ram = ({ visit, usage }: RamProps): Html =>
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
