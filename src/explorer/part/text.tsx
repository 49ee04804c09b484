/** @jsxImportSource @kitajs/html */
import { beginningOf, visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { AllOfIt } from './raw.tsx'

/** Maximum characters of a chain text that are shown at once, and after a press. */
const SHOWN = 240
const MOST = 16_384

type ChainTextProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly text: string
  /** Whether the text is prose, such as a name or a memo; absent: every character matters, as in JSON. */
  readonly isProse?: boolean
  /** Address of the whole text; absent: it has none. */
  readonly whole?: string
}

/** A text from the chain, which may be hostile: truncated, with more of it in a collapsed part. */
export const ChainText = ({ visit, text, isProse = false, whole }: ChainTextProps): Html => {
  const style = isProse ? 'prose' : 'chain'
  const short = beginningOf(text, SHOWN)
  if (short.isWhole)
    return (
      <bdi class={style} safe>
        {visible(text)}
      </bdi>
    )
  const long = beginningOf(text, MOST)
  return (
    <details class="long">
      <summary>
        <bdi class={style} safe>
          {`${visible(short.text)}…`}
        </bdi>{' '}
        <small safe>{visit.say({ en: `${text.length} characters`, zh: `共 ${text.length} 个字符` })}</small>
      </summary>
      <pre class="chain" safe>
        {long.isWhole ? visible(text) : `${visible(long.text)}…`}
      </pre>
      {!long.isWhole && whole !== undefined && <AllOfIt visit={visit} href={whole} />}
    </details>
  )
}
