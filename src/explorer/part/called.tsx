/** @jsxImportSource @kitajs/html */
import { isPossibleName, isTokenSymbol } from '#chain/names.ts'
import { type Argument, argumentsIn } from '../format/arguments.ts'
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Name, Owner } from './name.tsx'
import { Rows } from './rows.tsx'
import { ChainText } from './text.tsx'

/** An action of a transaction. */
export type CalledAction = { readonly contract: string; readonly action_name: string; readonly data: string }

type CalledProps = {
  readonly visit: Visit
  readonly action: CalledAction
  /** Types of its arguments by the contract's ABI; undefined: the contract has no such action now. */
  readonly types: readonly string[] | undefined
  /** Whether the things that it names are on the chain: those of a failed transaction may not be. */
  readonly isDone: boolean
}

/** An action with its arguments. */
export const Called = ({ visit, action, types, isDone }: CalledProps): Html => {
  const { say } = visit
  const args = argumentsIn(action, types ?? [])
  return (
    <section class="called">
      <h3>
        {types === undefined && !isDone ? (
          <bdi safe>{visible(action.contract)}</bdi>
        ) : (
          <Name visit={visit} kind="contract" id={action.contract} />
        )}{' '}
        <bdi safe>{visible(action.action_name)}</bdi>
      </h3>
      {args === undefined ? (
        <ChainText visit={visit} text={action.data} />
      ) : (
        <Rows
          rows={args.map((argument, at) => ({ ...argument, number: at + 1 }))}
          none={say({ en: 'No arguments.', zh: '没有参数。' })}
          columns={[
            {
              head: say({ en: 'Argument', zh: '参数' }),
              cell: ({ name, number }) => <code safe>{name === '' ? `#${number}` : name}</code>,
            },
            {
              head: say({ en: 'Type', zh: '类型' }),
              place: 'end',
              cell: ({ type }) => <code safe>{visible(type)}</code>,
            },
            {
              head: say({ en: 'Value', zh: '值' }),
              place: 'bare',
              cell: argument => <Value visit={visit} argument={argument} isDone={isDone} />,
            },
          ]}
        />
      )}
    </section>
  )
}

const OWNERS: ReadonlySet<string> = new Set([
  ...['account', 'from', 'to', 'issuer', 'payer', 'pledger', 'producer', 'receiver', 'voter'],
])

type ValueProps = { readonly visit: Visit; readonly argument: Argument; readonly isDone: boolean }

/** What stands for a thing of the chain leads to its page. */
const Value = ({ visit, argument: { name, value }, isDone }: ValueProps): Html => {
  if (isDone && OWNERS.has(name) && isPossibleName(value)) return <Owner visit={visit} id={value} />
  if (isDone && name === 'token' && isTokenSymbol(value))
    return <Name visit={visit} kind="token" id={value} />
  if ((name === 'amount' || name === 'bytes') && /^\d+(?:\.\d+)?$/.test(value)) return <Count value={value} />
  return value === '' ? <span class="none">""</span> : <ChainText visit={visit} text={value} />
}
