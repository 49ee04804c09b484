import type { Lang } from '../page.ts'

/** A text of the operator's profile file in the visitor's language, or in the other language if it is missing. */
export const profileText = (lang: Lang, chinese: string, english: string): string =>
  lang === 'zh' ? chinese || english : english || chinese
