/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'
import { AllOfIt } from './raw.tsx'

type MoreProps = {
  readonly visit: Pick<Visit, 'say' | 'site'>
  readonly shown: number
  readonly total: number
  /** Address of the whole list; absent: only the API has it. */
  readonly whole?: string
}

/** A note on where to find the rest of a truncated list. */
export const More = ({ visit, shown, total, whole }: MoreProps): Html => {
  if (total <= shown) return ''
  if (whole !== undefined)
    return (
      <p class="none">
        <span safe>
          {visit.say({ en: `The first ${shown} of ${total}.`, zh: `共 ${total} 项，此处为前 ${shown} 项。` })}
        </span>{' '}
        <AllOfIt visit={visit} href={whole} />
      </p>
    )
  return (
    <p class="none" safe>
      {visit.say(
        visit.site.testKey === undefined
          ? {
              en: `The first ${shown} of ${total}. With a key, the API gives all of them.`,
              zh: `共 ${total} 项，此处为前 ${shown} 项；使用 API key 可通过 API 获取全部。`,
            }
          : {
              en: `The first ${shown} of ${total}. The data links at the foot of this page give all of them.`,
              zh: `共 ${total} 项，此处为前 ${shown} 项；页面下方的数据链接包含全部。`,
            },
      )}
    </p>
  )
}
