/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getContractAbi } from '#actions/get-contract-abi.ts'
import type { getContractCode } from '#actions/get-contract-code.ts'
import { isActionName } from '#chain/names.ts'
import { actionText, cutWord } from '../format/action-name.ts'
import { namesOf } from '../format/arguments.ts'
import { parameterNamesIn } from '../format/parameter-names.ts'
import { limitText } from '../format/spending.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'
import { Fold } from './fold.tsx'
import { More } from './more.tsx'
import { Rows } from './rows.tsx'

type AbiProps = {
  readonly visit: Visit
  readonly contract: string
  readonly abis: AnswerOf<typeof getContractAbi>['abis']
  readonly code: AnswerOf<typeof getContractCode>
}

/** Maximum number of actions, and of arguments per action, on a page. */
const MOST = 100
/** Maximum number of actions of a list that is initially open. */
const OPEN = 12

/** The actions of a contract, each with a link to its records. */
export const Abi = ({ visit, contract, abis, code }: AbiProps): Html => {
  const names = parameterNamesIn(code.code)
  const { say } = visit
  const recordsOf = (name: string): string =>
    hrefTo(visit, `${visit.path}?${new URLSearchParams({ action_name: name })}`)
  return (
    <Fold
      visit={visit}
      id="abi"
      title={say({ en: `Actions (ABI): ${abis.length}`, zh: `方法（ABI）：${abis.length}` })}
      isOpen={abis.length <= OPEN}
    >
      <Rows
        visit={visit}
        rows={abis.slice(0, MOST)}
        none={{ en: 'No actions.', zh: '没有方法。' }}
        columns={[
          [
            'Action',
            '方法',
            ({ name }) => (
              <span class="what">
                {isActionName(name) ? (
                  <a href={recordsOf(name)} rel="nofollow">
                    <bdi safe>{name}</bdi>
                  </a>
                ) : (
                  <bdi safe>{actionText(name)}</bdi>
                )}
              </span>
            ),
          ],
          [
            'Arguments',
            '参数',
            ({ name, args }) => (
              <code safe>
                {typed(args, namesOf({ contract, action_name: name }, { types: args, names: names.get(name) ?? [] }))}
              </code>
            ),
          ],
          [
            'Spending limit',
            '授权限额',
            ({ amount_limit }) => (
              <span safe>
                {amount_limit
                  .slice(0, MOST)
                  .map(limit => limitText(limit, say))
                  .join(', ')}
              </span>
            ),
          ],
        ]}
      />
      <More visit={visit} shown={MOST} total={abis.length} />
    </Fold>
  )
}

/** The arguments with their types, such as `from: string, amount: string`, or only the types. */
const typed = (types: readonly string[], names: readonly string[]): string =>
  types
    .slice(0, MOST)
    .map((type, at) => [names[at], type].flatMap(word => (word === undefined ? [] : [cutWord(word)])).join(': '))
    .join(', ')
