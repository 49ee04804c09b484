/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'
import type { Frame } from './frame.ts'

/**
 * The sign that an open page is live and its data current. Only the script shows it. Its width is that of the
 * longest text, so that the layout does not shift.
 */
export const LiveSign = ({ frame: { say } }: { readonly frame: Pick<Frame, 'say'> }): Html => (
  <span class="live">
    <span class="on" safe>
      {say({ en: 'Live', zh: '实时' })}
    </span>
    <span
      class="late"
      title={say({
        en: 'The live connection was lost; the page now refreshes at intervals.',
        zh: '与服务的实时连接已断开；页面改为定时更新。',
      })}
      safe
    >
      {say({ en: 'Delayed', zh: '延迟' })}
    </span>
    <span
      class="held"
      title={say({
        en: 'New data waits while you point at the rows or use them; the page is as of the block at its foot.',
        zh: '指向或操作列表时暂停更新；页面数据截至页脚所示区块。',
      })}
      safe
    >
      {say({ en: 'Paused', zh: '已暂停' })}
    </span>
    <span class="stale" safe>
      {say({ en: 'Out of date', zh: '数据滞后' })}
    </span>
  </span>
)
