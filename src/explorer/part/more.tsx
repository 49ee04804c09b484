/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import { grouped } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { AllOfIt } from './raw.tsx'

type MoreProps = {
  readonly visit: Pick<Visit, 'say' | 'site'>
  readonly shown: number
  readonly total: number
  /** Address of the whole list; absent: only the API and a file have it. */
  readonly whole?: string
  /** Whether the page offers a file of the whole list. */
  readonly hasFile?: boolean
}

/** A note on where to find the rest of a truncated list. */
export const More = ({ visit, shown, total, whole, hasFile = false }: MoreProps): Html => {
  if (total <= shown) return ''
  const all = grouped(String(total))
  const [en, zh] = [`The first ${shown} of ${all}.`, `共 ${all} 项，此处为前 ${shown} 项`]
  if (whole !== undefined)
    return (
      <p class="none">
        <span safe>{visit.say({ en, zh: `${zh}。` })}</span> <AllOfIt visit={visit} href={whole} />
      </p>
    )
  const rest = hasFile ? IN_FILE : visit.site.testKey === undefined ? WITH_KEY : BY_LINKS
  return (
    <p class="none" safe>
      {visit.say({ en: `${en} ${rest.en}`, zh: `${zh}；${rest.zh}。` })}
    </p>
  )
}

const IN_FILE: Text = { en: 'The file above has all of them.', zh: '上方的文件包含全部' }
const WITH_KEY: Text = { en: 'With a key, the API gives all of them.', zh: '使用 API key 可通过 API 获取全部' }
const BY_LINKS: Text = {
  en: 'The data links at the foot of this page give all of them.',
  zh: '页面下方的数据链接包含全部',
}
