import type { Visit } from '../page.ts'
import { RANGE_FIELDS } from './filters.tsx'
import { PERIOD_FIELDS } from './period-bar.tsx'

/** A refusal of the API with the fields of the page's form in place of the parameters that they become. */
export const inWordsOfPage = ({ query, lang }: Pick<Visit, 'query' | 'lang'>, message: string): string => {
  const isGiven = ({ name }: { readonly name: string }): boolean => (query.get(name) ?? '') !== ''
  // A page has one of these forms at most.
  const fields = [RANGE_FIELDS, PERIOD_FIELDS].find(form => form.some(isGiven)) ?? []
  return fields.reduce(
    (text, { parameter, label }) =>
      text.replaceAll(
        // Chinese quotation marks stand without spaces.
        lang === 'zh'
          ? new RegExp(` ?(?:参数 )?'${parameter}' ?`, 'g')
          : new RegExp(`(?:Parameter )?'${parameter}'`, 'g'),
        `“${label[lang]}”`,
      ),
    message,
  )
}
