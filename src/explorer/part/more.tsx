/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'

type MoreProps = { readonly visit: Pick<Visit, 'say'>; readonly shown: number; readonly total: number }

/** Says where the rest of a shortened list is. */
export const More = ({ visit, shown, total }: MoreProps): Html =>
  total <= shown ? (
    ''
  ) : (
    <p class="none" safe>
      {visit.say({
        en: `The first ${shown} of ${total}. The data links at the foot of this page give all of them.`,
        zh: `共 ${total} 项，此处为前 ${shown} 项；页面下方的数据链接包含全部。`,
      })}
    </p>
  )
