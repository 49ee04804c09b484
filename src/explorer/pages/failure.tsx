/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/define.ts'
import type { Failure, FailureKind } from '#failure/failure.ts'
import type { Shown } from '../page.ts'
import type { Frame } from '../part/layout.tsx'

const TITLES: Partial<Readonly<Record<FailureKind, Text>>> = {
  not_found: { en: 'Not found', zh: '未找到' },
  loading: { en: 'Not loaded yet', zh: '尚未加载' },
  bad_request: { en: 'This address cannot be shown', zh: '无法显示此地址' },
  rate_limited: { en: 'Too many pages at once', zh: '访问过于频繁' },
}
const OTHERWISE: Text = { en: 'This page cannot be shown now', zh: '暂时无法显示此页面' }

/** What is shown instead of a page. */
export const failurePage = ({ say, lang }: Frame, { kind, message, zh }: Failure): Shown => {
  const title = say(TITLES[kind] ?? OTHERWISE)
  return {
    title,
    isMinor: true,
    body: (
      <section class="card failure">
        <h1 safe>{title}</h1>
        <p safe>{lang === 'zh' ? (zh ?? message) : message}</p>
        <p safe>
          {say({
            en: 'The search above finds accounts, tokens, contracts, producers, blocks and transactions by the beginning of their name, their number or hash.',
            zh: '可用上方的搜索框按名称开头、高度或哈希查找账户、代币、合约、生产者、区块与交易。',
          })}
        </p>
      </section>
    ),
  }
}
