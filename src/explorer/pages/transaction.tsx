/** @jsxImportSource @kitajs/html */

import type { Text } from '#actions/define.ts'
import { getBlockDetail } from '#actions/get-block.ts'
import { getTransactionDetail } from '#actions/get-transaction.ts'
import { findSignature, type KnownContracts, type KnownOwners, knownContracts, knownOwners } from '../find/known.ts'
import { readTransactionMovements } from '../find/movements.ts'
import { isNamedByCode } from '../format/arguments.ts'
import type { TransactionMovement } from '../format/record.ts'
import { ofNodeBeyond } from '../format/state.ts'
import { formatIso } from '../format/time.ts'
import { describeTransaction, isDelayed, type TransactionDetail } from '../format/transaction.ts'
import { formatPagePath } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Heading } from '../part/name.tsx'
import { Card, Note } from '../part/section.tsx'
import { More } from '../part/table.tsx'
import { Folded, isRaw, rawHref, rawText, spreadJson } from '../part/text.tsx'
import { Called, findFailedIndex, NamesOfCode, Receipts, TransactionFacts, WhyFailed } from '../part/transaction.tsx'
import { Movements, Outcome } from '../part/transactions.tsx'

/** Maximum number of actions, movements and receipts on the page. A transaction of 64 KB may have a thousand. */
const MAX = 50

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
      knownContracts(visit, transaction.actions),
      knownOwners(visit, transaction),
    ])
    const title = say({ en: 'Transaction', zh: '交易' })
    return {
      title: `${title} ${transaction.hash}`,
      path: formatPagePath('tx', transaction.hash),
      asOf: ofNodeBeyond(visit.at, { status: answer.status, height: Number(block_number) }),
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
          <Receipts
            visit={visit}
            actions={transaction.actions}
            receipts={transaction.tx_receipt.receipts ?? []}
            most={MAX}
          />
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
          movements={(movements ?? []).slice(0, MAX)}
          none={movements === undefined ? describeUnknown(code) : describeNoMovements(transaction)}
        />
      )}
      <More visit={visit} shown={MAX} total={movements?.length ?? 0} />
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

type ActionsProps = {
  readonly visit: Visit
  readonly transaction: TransactionDetail
  /** `-1`: the transaction is in no irreversible block. */
  readonly blockNumber: string
  readonly known: KnownContracts
  readonly owners: KnownOwners
}

function Actions({ visit, transaction, blockNumber, known, owners }: ActionsProps): Html {
  const { actions } = transaction
  const failed = findFailedIndex(transaction)
  const shown = actions.slice(0, MAX).map(action => ({ action, ...findSignature(known, action) }))
  const isNamed = shown.some(({ action, signature }) => isNamedByCode(action, signature))
  const isLater = (block: string): boolean => blockNumber !== '-1' && Number(block) > Number(blockNumber)
  return (
    <Card visit={visit} id="actions" title={{ en: 'Actions', zh: '方法' }}>
      {shown.length === 0 ? (
        <Note visit={visit} text={{ en: 'No actions.', zh: '没有方法。' }} />
      ) : (
        <div>
          {shown.map(({ action, signature, block }, at) => (
            <Called
              visit={visit}
              action={action}
              signature={signature}
              changedIn={block !== undefined && isLater(block) ? block : undefined}
              owners={owners}
              number={at + 1}
              isFailed={at === failed}
            />
          ))}
        </div>
      )}
      {isNamed && <NamesOfCode visit={visit} />}
      <More visit={visit} shown={MAX} total={actions.length} whole={rawHref(visit)} />
    </Card>
  )
}
