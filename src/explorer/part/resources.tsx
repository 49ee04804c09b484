/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getAccountDetail } from '#actions/get-account-detail.ts'
import { sumOf } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Card } from './card.tsx'
import { Facts } from './facts.tsx'
import { Share } from './share.tsx'

/** The answer of get-account-detail. */
export type AccountDetail = AnswerOf<typeof getAccountDetail>

/** Gas and RAM of an account, as bars. */
export const Resources = ({ visit, detail }: { readonly visit: Visit; readonly detail: AccountDetail }): Html => {
  const { say } = visit
  const { gas_info: gas, ram_info: ram } = detail
  return (
    <Card visit={visit} id="resources" title={say({ en: 'Gas and RAM', zh: 'gas 与 RAM' })}>
      <Facts
        facts={[
          [
            say({ en: 'Gas left', zh: '剩余 gas' }),
            <Measure
              part={gas.current_total}
              whole={gas.limit}
              tell={percent => say({ en: `${percent} left`, zh: `剩余 ${percent}` })}
            >
              <small>
                {' · +'}
                <Count value={gas.increase_speed} />
                <span safe>{say({ en: ' per second', zh: '/秒' })}</span>
              </small>
            </Measure>,
          ],
          [
            say({ en: 'RAM used (bytes)', zh: '已用 RAM（字节）' }),
            <Measure
              part={ram.used}
              whole={sumOf([ram.used, positive(ram.available)])}
              tell={percent => say({ en: `${percent} used`, zh: `已用 ${percent}` })}
            >
              <small>
                {' · '}
                <Count value={ram.available} />
                <span safe>{say({ en: ' available', zh: ' 可用' })}</span>
              </small>
            </Measure>,
          ],
        ]}
      />
    </Card>
  )
}

const positive = (decimal: string): string => (decimal.startsWith('-') ? '0' : decimal)

type MeasureProps = {
  readonly part: string
  readonly whole: string
  /** A text that says whether the percentage is available or used. */
  readonly tell: (percent: string) => string
  readonly children: Html
}

const Measure = ({ part, whole, tell, children }: MeasureProps): Html => (
  <div class="measure">
    <span>
      <Count value={part} />
      {' / '}
      <Count value={whole} />
      {children as 'safe'}
    </span>
    <Share part={positive(part)} whole={whole} tell={tell} />
  </div>
)
