/** @jsxImportSource @kitajs/html */
import { isPossibleName, isTokenSymbol } from '#chain/names.ts'
import { actionText, cutWord } from '../format/action-name.ts'
import {
  type Argument,
  argumentsIn,
  type CalledAction,
  isNamedByCode,
  isOwner,
  type Signature,
  UNKNOWN_SIGNATURE,
} from '../format/arguments.ts'
import { isNanoseconds, isoOf } from '../format/time.ts'
import { cut } from '../format/visible.ts'
import type { KnownOwners } from '../known-owners.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Contract, Name, Owner } from './name.tsx'
import { rawHref } from './raw.tsx'
import { Rows } from './rows.tsx'
import { ChainText } from './text.tsx'
import { Until } from './time.tsx'

type CalledProps = {
  readonly visit: Visit
  readonly action: CalledAction
  /** undefined: the contract does not have the action now. */
  readonly signature: Signature | undefined
  /** The block of a code change after the action; undefined: none is known. */
  readonly changedIn: string | undefined
  readonly owners: KnownOwners
  /** Position among the actions, from 1. */
  readonly number: number
  /** Whether the action made the transaction fail. */
  readonly isFailed: boolean
}

/** An action with its arguments. */
export const Called = (props: CalledProps): Html => {
  const { visit, action, signature, changedIn, owners, number, isFailed } = props
  const { say } = visit
  const args = argumentsIn(action, signature ?? UNKNOWN_SIGNATURE)
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
            ['Type', '类型', ({ type }) => <code safe>{cutWord(type)}</code>, { place: 'end' }],
            ['Value', '值', argument => <Value visit={visit} argument={argument} owners={owners} />, { place: 'bare' }],
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
const MOST_NAME = 120

/** Contract and action. The contract has a link if its page exists. */
const Heading = ({ visit, action, signature, owners, isFailed }: CalledProps): Html => {
  const { say } = visit
  // A failed transaction may name things that do not exist.
  const isDone = owners === 'all'
  return (
    <h3>
      {signature === undefined && !isDone ? (
        <bdi safe>{cut(action.contract, MOST_NAME)}</bdi>
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
export const NamesOfCode = ({ visit: { say } }: { readonly visit: Pick<Visit, 'say'> }): Html => (
  <p class="none" safe>
    {say({
      en: 'Argument names come from the current code of the contract.',
      zh: '参数名取自合约当前的代码。',
    })}
  </p>
)

type ValueProps = { readonly visit: Visit; readonly argument: Argument; readonly owners: KnownOwners }

/** An amount with thousands separators. Any longer one, which only a failed call has, is shown as a text. */
const AMOUNT = /^\d{1,40}(?:\.\d{1,40})?$/

/** The value of an argument, with a link if it names a thing of the chain. */
const Value = ({ visit, argument, owners }: ValueProps): Html => {
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
        <Until visit={visit} iso={isoOf(value)} />
      </data>
    )
  if (value === '') return <span class="none">""</span>
  return <ChainText visit={visit} text={value} whole={rawHref(visit)} />
}
