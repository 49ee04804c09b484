/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/define.ts'
import type { Failure, FailureKind } from '#failure/failure.ts'
import type { Near } from '../find/near.ts'
import type { FormField } from '../format/field.ts'
import { inWordsOfPage } from '../format/field.ts'
import { toHref } from '../links.ts'
import type { Html, PageContent } from '../page.ts'
import type { Frame } from '../part/layout.tsx'
import { pathOfPage } from '../part/list.tsx'
import { LastBlock, MatchRows, SEARCHED_FORMS } from '../part/match.tsx'
import { Card } from '../part/section.tsx'
import { ChainText } from '../part/text.tsx'

const TITLES: Partial<Readonly<Record<FailureKind, Text>>> = {
  not_found: { en: 'Not found', zh: '未找到' },
  loading: { en: 'Not loaded yet', zh: '尚未加载' },
  bad_request: { en: 'Invalid link', zh: '链接无效' },
  rate_limited: { en: 'Too many pages at once', zh: '访问过于频繁' },
}
const OTHERWISE: Text = { en: 'This page cannot be shown now', zh: '暂时无法显示此页面' }

type FailurePageProps = {
  /** Its message is in the visitor's language. */
  readonly failure: Failure
  /** Of the form on the page that could not be shown. */
  readonly fields: readonly FormField[]
  readonly near?: Near | undefined
}

/** The page of a failure. */
export function failurePage(frame: Frame, { failure, fields, near }: FailurePageProps): PageContent {
  const { say } = frame
  const title = say(TITLES[failure.kind] ?? OTHERWISE)
  return {
    title,
    isMinor: true,
    body: (
      <>
        <section class="card failure">
          <h1 safe>{title}</h1>
          {isOutOfOrder(failure) ? <OutOfOrder frame={frame} /> : <p safe>{inWordsOfPage(frame, failure, fields)}</p>}
          {near !== undefined && failure.kind !== 'loading' && <LastBlock visit={frame} height={near.height} />}
          <p safe>{say(SEARCHED_FORMS)}</p>
        </section>
        {near !== undefined && near.matches.length !== 0 && (
          <Card visit={frame} id="meant" title={{ en: 'Did you mean', zh: '您是不是要找' }}>
            <p>
              <span safe>{say({ en: 'Looked for: ', zh: '查找内容：' })}</span>
              <ChainText visit={frame} text={near.text} />
            </p>
            <MatchRows visit={frame} matches={near.matches} />
          </Card>
        )}
      </>
    ),
  }
}

/** Whether the address names a page of searched rows, which have no numbers, or a row that none of them follows. */
const isOutOfOrder = ({ details }: Pick<Failure, 'details'>): boolean =>
  details['parameter'] === 'after' || (details['parameter'] === 'page' && details['searched'] !== undefined)

/** Searched rows can only be read in order, from the newest one. */
function OutOfOrder({ frame }: { readonly frame: Frame }): Html {
  const query = new URLSearchParams(frame.query)
  query.delete('after')
  return (
    <p>
      <span safe>
        {frame.say({
          en: 'This link leads to no page of the list. Rows that filters find have no page numbers: each page leads to the next.',
          zh: '此链接不对应列表中的任何一页。按条件查到的记录没有页码，只能逐页往后翻。',
        })}
      </span>{' '}
      <a href={toHref(frame, pathOfPage({ path: frame.path, query }, 1))} safe>
        {frame.say({ en: 'First page →', zh: '从第一页开始 →' })}
      </a>
    </p>
  )
}
