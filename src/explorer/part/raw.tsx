/** @jsxImportSource @kitajs/html */
import { Exact } from '#chain/json.ts'
import { beginningOf, visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'

/** Letters that are shown; the call of the API below the page has all. */
const MOST = 8_192

type FoldedProps = {
  readonly visit: Visit
  readonly title: string
  readonly text: string
}

/** A long text that is seen after one press. */
export const Folded = ({ visit, title, text }: FoldedProps): Html => {
  const { text: shown, isWhole } = beginningOf(text, MOST)
  return (
    <details class="card folded">
      <summary>
        <h2 safe>{title}</h2>
      </summary>
      <pre class="chain" tabindex="0" safe>
        {`${visible(shown)}${isWhole ? '' : '…'}`}
      </pre>
      {isWhole ? (
        ''
      ) : (
        <p class="none" safe>
          {visit.say({
            en: `The first ${MOST} of ${text.length} characters. The data links at the foot of this page give all of them.`,
            zh: `共 ${text.length} 个字符，此处为前 ${MOST} 个；页面下方的数据链接包含全文。`,
          })}
        </p>
      )}
    </details>
  )
}

/** A value as JSON over several lines. */
export const spreadJson = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) => (each instanceof Exact ? each.text : each), 2)
