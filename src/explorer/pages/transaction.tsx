/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { getBlockDetail } from '#actions/get-block-detail.ts'
import { getContractAbi } from '#actions/get-contract-abi.ts'
import { getTransactionDetail } from '#actions/get-transaction-detail.ts'
import { getTransactionRecords } from '#actions/get-transaction-records.ts'
import { movementsIn } from '../format/movements.ts'
import { reasonOf } from '../format/outcome.ts'
import { isoOf } from '../format/time.ts'
import { visible } from '../format/visible.ts'
import { ifFound, ifKnown } from '../found.ts'
import type { Html, Page, Visit } from '../page.ts'
import { Called, type CalledAction } from '../part/called.tsx'
import { Card } from '../part/card.tsx'
import { More } from '../part/more.tsx'
import { Movements } from '../part/movements.tsx'
import { Copied } from '../part/name.tsx'
import { Outcome } from '../part/outcome.tsx'
import { Folded, spreadJson } from '../part/raw.tsx'
import { Receipts } from '../part/receipts.tsx'
import { type Transaction, TransactionFacts } from '../part/transaction-facts.tsx'

/** Actions, movements and receipts that a page shows; a transaction of 64 KB may have a thousand. */
const MOST = 50
/** Contracts whose ABI a page asks for. */
const MOST_ABIS = 10

/** A transaction by its hash: what moved comes first. */
export const transactionPage: Page = {
  path: '/tx/{id}',
  show: async visit => {
    const { say, id } = visit
    const answer = await visit.ask(getTransactionDetail, { tx_hash: id })
    const { transaction, block_number } = answer
    const [moved, block, typesOf] = await Promise.all([
      ifKnown(visit.ask(getTransactionRecords, { tx_hashes: id })),
      block_number === '-1' ? undefined : visit.ask(getBlockDetail, { number: block_number }),
      abiTypes(visit, transaction.actions),
    ])
    const title = say({ en: 'Transaction', zh: '交易' })
    return {
      title: `${title} ${transaction.hash}`,
      description: say({
        en: `Transaction ${transaction.hash} of the IOST chain by ${visible(transaction.publisher)}: status, token movements, actions, gas and RAM.`,
        zh: `IOST 交易 ${transaction.hash}，由 ${visible(transaction.publisher)} 发布：状态、代币变动、方法、gas 与 RAM。`,
      }),
      body: (
        <>
          <h1>
            <small safe>{title}</small>
            <Copied visit={visit} text={transaction.hash} />
          </h1>
          <Summary visit={visit} status={answer.status} transaction={transaction} records={moved?.records} />
          <section class="card">
            <TransactionFacts
              visit={visit}
              transaction={transaction}
              blockNumber={block_number}
              time={isoOf(block?.block.time ?? transaction.time)}
            />
          </section>
          <Actions visit={visit} transaction={transaction} typesOf={typesOf} />
          <Receipts visit={visit} receipts={transaction.tx_receipt.receipts ?? []} most={MOST} />
          <Folded
            visit={visit}
            title={say({ en: 'The whole transaction as JSON', zh: '完整交易（JSON）' })}
            text={spreadJson(transaction)}
          />
        </>
      ),
    }
  },
}

/** Types of the arguments of an action, by the ABI that its contract has now. */
type TypesOf = (action: CalledAction) => readonly string[] | undefined

const abiTypes = async (visit: Visit, actions: readonly CalledAction[]): Promise<TypesOf> => {
  const contracts = [...new Set(actions.map(({ contract }) => contract))].slice(0, MOST_ABIS)
  const found = await Promise.all(contracts.map(contract => ifFound(visit.ask(getContractAbi, { contract }))))
  const abis = new Map(contracts.map((contract, at) => [contract, found[at]?.abis ?? []]))
  return ({ contract, action_name }) => abis.get(contract)?.find(({ name }) => name === action_name)?.args
}

type SummaryProps = {
  readonly visit: Visit
  readonly status: string
  readonly transaction: Transaction
  /** undefined: they are not known yet. */
  readonly records: AnswerOf<typeof getTransactionRecords>['records'] | undefined
}

/** Whether it succeeded, and what it moved or why not. */
const Summary = ({ visit, status, transaction, records }: SummaryProps): Html => {
  const { say } = visit
  const { tx_receipt } = transaction
  const code = tx_receipt.status_code
  const movements = movementsIn(records ?? [])
  const isFailed = code !== undefined && code !== 'SUCCESS'
  return (
    <Card
      title={say(isFailed ? { en: 'Why it failed', zh: '失败原因' } : { en: 'What moved', zh: '代币变动' })}
      aside={
        <span class="badges">
          {code === undefined ? '' : <Outcome visit={visit} code={code} />}{' '}
          <Finality visit={visit} status={status} />
        </span>
      }
    >
      {isFailed ? (
        <div class="reason">
          <pre class="bad chain" safe>
            {visible(reasonOf(tx_receipt.message ?? ''))}
          </pre>
          <p safe>
            {say({
              en: 'Nothing moved: only the gas was charged.',
              zh: '没有代币变动：仅扣除了 gas。',
            })}
          </p>
        </div>
      ) : (
        <Movements
          visit={visit}
          movements={movements.slice(0, MOST)}
          none={say(
            records === undefined
              ? { en: 'Known as soon as its block is published.', zh: '其区块发布后即可显示。' }
              : noneOf(transaction),
          )}
        />
      )}
      <More visit={visit} shown={MOST} total={movements.length} />
    </Card>
  )
}

/** A base transaction stands for its block: what pays for the block before is no movement of its own. */
const noneOf = ({ publisher }: Transaction): Text =>
  publisher === 'base.iost'
    ? {
        en: 'Nothing but the contribute that pays for the block before.',
        zh: '仅发放了上一区块的出块奖励 contribute。',
      }
    : { en: 'No tokens moved.', zh: '没有代币变动。' }

const Finality = ({ visit: { say }, status }: { readonly visit: Visit; readonly status: string }): Html => {
  const text = {
    IRREVERSIBLE: { en: 'Irreversible', zh: '不可逆' },
    PACKED: { en: 'In a block that may still be replaced', zh: '所在区块尚可能被替换' },
  }[status] ?? { en: 'Waiting for a block', zh: '等待打包' }
  return (
    <span class={status === 'IRREVERSIBLE' ? 'badge' : 'badge warn'} safe>
      {say(text)}
    </span>
  )
}

type ActionsProps = { readonly visit: Visit; readonly transaction: Transaction; readonly typesOf: TypesOf }

const Actions = ({ visit, transaction, typesOf }: ActionsProps): Html => {
  const { actions, tx_receipt } = transaction
  return (
    <Card title={visit.say({ en: 'Actions', zh: '方法' })}>
      {actions.length === 0 ? (
        <p class="none" safe>
          {visit.say({ en: 'No actions.', zh: '没有方法。' })}
        </p>
      ) : (
        <div>
          {actions.slice(0, MOST).map(action => (
            <Called
              visit={visit}
              action={action}
              types={typesOf(action)}
              isDone={tx_receipt.status_code === 'SUCCESS'}
            />
          ))}
        </div>
      )}
      <More visit={visit} shown={MOST} total={actions.length} />
    </Card>
  )
}
