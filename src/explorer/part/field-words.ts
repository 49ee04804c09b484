import type { Text } from '#actions/text.ts'
import type { Visit } from '../page.ts'
import { RANGE_FIELDS } from './filters.tsx'
import { PERIOD_FIELDS } from './period-bar.tsx'

/** A refusal of the API with the fields of the page's form in place of the parameters that they become. */
export const inWordsOfPage = ({ query, lang }: Pick<Visit, 'query' | 'lang'>, message: string): string => {
  const isGiven = ({ name }: { readonly name: string }): boolean => (query.get(name) ?? '') !== ''
  const fields: readonly (readonly [parameter: string, label: Text])[] = RANGE_FIELDS.some(isGiven)
    ? RANGE_FIELDS.map(({ parameter, label }) => [parameter, label])
    : PERIOD_FIELDS.filter(() => PERIOD_FIELDS.some(isGiven)).map(({ name, label }) => [name, label])
  return fields.reduce(
    (text, [parameter, label]) =>
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
