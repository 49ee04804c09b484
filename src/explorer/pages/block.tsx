/** @jsxImportSource @kitajs/html */
import { getBlockDetail, getBlockTx } from '#actions/get-block.ts'
import { getTransactions } from '#actions/get-transaction.ts'
import { readTransactionMovements } from '../find/movements.ts'
import { countOwnTransactions, formatCountedNoun, formatGrouped } from '../format/amount.ts'
import { describeBlockOrigin } from '../format/state.ts'
import { actionText, revealInvisible, shortenName } from '../format/text.ts'
import { formatIso, formatTime } from '../format/time.ts'
import type { TransactionDetail } from '../format/transaction.ts'
import { formatPagePath, isNarrowed, toHref } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Count, None, Place, When } from '../part/amount.tsx'
import { List, selectPageRows } from '../part/list.tsx'
import { Copied, Name, Owner } from '../part/name.tsx'
import { Card, Facts } from '../part/section.tsx'
import { MAX_NAMED, Moved, Outcome } from '../part/transactions.tsx'

export const blockPage: Page = {
  path: '/block/{id}',
  show: async visit => {
    const given = /^\d+$/.test(visit.id) ? { number: visit.id } : { hash: visit.id }
    const [{ block, status, witness_account }, { transactions: hashes }] = await Promise.all([
      visit.ask(getBlockDetail, given),
      visit.ask(getBlockTx, given),
    ])
    const count = countOwnTransactions(block.number, Number(block.tx_count))
    const [at, by] = [formatTime(formatIso(block.time)), revealInvisible(witness_account)]
    const title = visit.say({ en: `Block ${block.number}`, zh: `区块 ${block.number}` })
    return {
      title,
      asOf: describeBlockOrigin(visit.at, { status, height: Number(block.number) }),
      path: formatPagePath('block', block.number),
      isMinor: isNarrowed(visit, ['page']),
      description: visit.say({
        en: `Block ${formatGrouped(String(block.number))} of the IOST chain: ${at} UTC, produced by ${by}, ${formatCountedNoun(count, 'transaction')}.`,
        zh: `IOST 区块 ${block.number}：${at} UTC，由 ${by} 生产，${count} 笔交易。`,
      }),
      body: (
        <>
          <h1 safe>{title}</h1>
          <Neighbours visit={visit} number={block.number} />
          <section class="card">
            <Facts
              visit={visit}
              facts={[
                ['Status', '状态', <Status visit={visit} status={status} />],
                ['Time', '时间', <When visit={visit} iso={formatIso(block.time)} />],
                ['Producer', '生产者', <Owner visit={visit} id={witness_account} />],
                [
                  'Transactions',
                  '交易数',
                  <span>
                    <Place value={count} />
                    {count !== Number(block.tx_count) && (
                      <small safe>
                        {visit.say({ en: ', and the base transaction of the block', zh: '，另有区块的 base 交易' })}
                      </small>
                    )}
                  </span>,
                ],
                ['Gas', 'Gas', <Count value={block.gas_usage} />],
                ['Hash', '哈希', <Copied visit={visit} text={block.hash} />],
                [
                  'Parent',
                  '父区块',
                  // The first block has no parent.
                  block.parent_hash === '' ? <None /> : <Copied visit={visit} text={block.parent_hash} />,
                ],
                ['Signed by', '签名公钥', <Copied visit={visit} text={block.witness} />],
              ]}
            />
          </section>
          <Card visit={visit} id="transactions" title={{ en: 'Transactions', zh: '交易' }}>
            <BlockTransactions visit={visit} hashes={hashes} />
          </Card>
        </>
      ),
    }
  },
}

const Status = ({ visit: { say }, status }: Props<{ status: string }>): Html =>
  status === 'IRREVERSIBLE' ? (
    <span class="good" safe>
      {say({ en: 'Irreversible', zh: '不可逆' })}
    </span>
  ) : (
    <span class="warn" safe>
      {say({ en: 'May still be replaced', zh: '仍可能被替换' })}
    </span>
  )

const Neighbours = ({ visit, number }: Props<{ number: number }>): Html => (
  <p class="neighbours">
    {number > 0 && (
      <a href={toHref(visit, formatPagePath('block', number - 1))} rel="prev" safe>
        {visit.say({ en: `← Block ${number - 1}`, zh: `← 区块 ${number - 1}` })}
      </a>
    )}{' '}
    {number < visit.at.height && (
      <a href={toHref(visit, formatPagePath('block', number + 1))} rel="next" safe>
        {visit.say({ en: `Block ${number + 1} →`, zh: `区块 ${number + 1} →` })}
      </a>
    )}
  </p>
)

type BlockTransactionsProps = {
  readonly visit: Visit
  /** In the order of the block. */
  readonly hashes: readonly string[]
}

/** The requested page of a block's transactions with their actions and movements. */
async function BlockTransactions({ visit, hashes }: BlockTransactionsProps): Promise<string> {
  const shown = selectPageRows(visit, hashes).join(',')
  const found = shown === '' ? [] : (await visit.ask(getTransactions, { tx_hashes: shown })).transactions
  const transactions = found.flatMap(entry => (entry === null ? [] : [entry.transaction]))
  const moved = await readTransactionMovements(visit, transactions)
  return (
    <List
      visit={visit}
      total={hashes.length}
      rows={transactions}
      none={{ en: 'No transactions on this page.', zh: '此页没有交易。' }}
      columns={[
        ['Transaction', '交易', ({ hash }) => <Name visit={visit} kind="tx" id={hash} />],
        ['Publisher', '发布者', ({ publisher }) => <Owner visit={visit} id={publisher} />],
        ['Actions', '方法', row => <Done row={row} />, 'bare'],
        ['Moved', '代币变动', ({ hash }) => <Moved visit={visit} movements={moved.get(hash)} />, 'bare'],
        ['Status', '状态', ({ tx_receipt }) => <Outcome visit={visit} code={tx_receipt.status_code ?? ''} />, 'end'],
        ['Gas', 'Gas', ({ tx_receipt }) => <Count value={tx_receipt.gas_usage ?? '0'} />, 'digits'],
      ]}
    />
  )
}

const Done = ({ row: { actions } }: { readonly row: TransactionDetail }): Html =>
  actions.length === 0 ? (
    <None />
  ) : (
    <span class="what">
      {actions.slice(0, MAX_NAMED).map(({ contract, action_name }) => (
        <bdi class="line" safe>
          {`${shortenName(revealInvisible(contract))} ${actionText(action_name)}`}
        </bdi>
      ))}
      {actions.length > MAX_NAMED && <small safe>{`+${actions.length - MAX_NAMED}`}</small>}
    </span>
  )
