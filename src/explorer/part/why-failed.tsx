/** @jsxImportSource @kitajs/html */
import { actionText } from '../format/action-name.ts'
import { failedActionAt, failureWords } from '../format/failure.ts'
import { reasonOf } from '../format/outcome.ts'
import { shortened, visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { AllOfIt, rawHref } from './raw.tsx'
import type { Transaction } from './transaction-facts.tsx'

type WhyFailedProps = { readonly visit: Visit; readonly transaction: Transaction }

/** Index of the action that made a transaction fail; undefined: it did not fail, or its receipt names no action. */
export const failedAt = ({ tx_receipt, actions }: Transaction): number | undefined =>
  tx_receipt.status_code === 'SUCCESS' ? undefined : failedActionAt(tx_receipt.message ?? '', actions)

/** The failure reason: an explanation if a system contract gave the reason, and always the receipt's text. */
export const WhyFailed = ({ visit, transaction }: WhyFailedProps): Html => {
  const { say } = visit
  const { tx_receipt, actions } = transaction
  const reason = reasonOf(tx_receipt.message ?? '')
  const at = failedAt(transaction)
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
