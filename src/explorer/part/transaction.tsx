/** @jsxImportSource @kitajs/html */
import { splitFuncName } from '#chain/effects.ts'
import { isPossibleName, isTokenSymbol } from '#chain/names.ts'
import { findSignature, type KnownContracts, type KnownOwners } from '../find/known.ts'
import {
  type ActionSignature,
  type Argument,
  type CalledAction,
  isNamedByCode,
  isOwner,
  parseCallArguments,
  UNKNOWN_SIGNATURE,
} from '../format/arguments.ts'
import { type CallTree, nestCalls, type ShownReceipt, splitByAction } from '../format/calls.ts'
import { findFailedAction } from '../format/outcome.ts'
import { actionText, cut, cutWord } from '../format/text.ts'
import { formatIso, isNanoseconds } from '../format/time.ts'
import type { TransactionDetail } from '../format/transaction.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Count, Until } from './amount.tsx'
import { More, Rows } from './list.tsx'
import { Contract, Name, Owner } from './name.tsx'
import { Card, Note } from './section.tsx'
import { ChainText, rawHref } from './text.tsx'

/** Maximum number of actions, movements and receipts on a page. A transaction of 64 KB may have a thousand. */
export const MAX_SHOWN = 50

type ActionsProps = {
  readonly visit: Visit
  readonly transaction: TransactionDetail
  /** `-1`: the transaction is in no irreversible block. */
  readonly blockNumber: string
  readonly known: KnownContracts
  readonly owners: KnownOwners
}

/** The actions of a transaction with their arguments. */
export function Actions({ visit, transaction, blockNumber, known, owners }: ActionsProps): Html {
  const { actions } = transaction
  const failed = findFailedIndex(transaction)
  const shown = actions.slice(0, MAX_SHOWN).map(action => ({ action, ...findSignature(known, action) }))
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
      <More visit={visit} shown={MAX_SHOWN} total={actions.length} whole={rawHref(visit)} />
    </Card>
  )
}

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
function Called(props: CalledProps): Html {
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
const NamesOfCode = ({ visit }: { readonly visit: Pick<Visit, 'say'> }): Html => (
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
}

/** The receipts of a transaction, by action and with those of inner calls nested, as far as that can be derived. */
export function Receipts({ visit, actions, receipts }: ReceiptsProps): Html {
  const { say } = visit
  const roots = nestCalls(receipts.slice(0, MAX_SHOWN))
  const divided =
    actions.length > 1 && Math.max(actions.length, receipts.length) <= MAX_SHOWN
      ? splitByAction(actions, roots)
      : undefined
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
      <More visit={visit} shown={MAX_SHOWN} total={receipts.length} whole={rawHref(visit)} />
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
  const { contract, name } = splitFuncName(func)
  return (
    <span class="what">
      <Contract visit={visit} id={contract} /> <bdi safe>{actionText(name)}</bdi>
    </span>
  )
}

/** Index of the action that made a transaction fail; undefined: it did not fail, or its receipt names no action. */
export const findFailedIndex = ({ tx_receipt, actions }: TransactionDetail): number | undefined =>
  tx_receipt.status_code === 'SUCCESS' ? undefined : findFailedAction(tx_receipt.message ?? '', actions)
