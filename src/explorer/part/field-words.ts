import type { Failure } from '#failure/failure.ts'
import type { Visit } from '../page.ts'
import { type Field, PAGE_FIELD } from './form-fields.ts'

/**
 * A refusal of the API with the labels of the page's fields in place of the parameters that they become.
 * @param message of the refusal, in the visitor's language.
 */
export const inWordsOfPage = (
  { lang }: Pick<Visit, 'lang'>,
  { message, details }: Pick<Failure, 'message' | 'details'>,
  fields: readonly Field[],
): string =>
  // Other refusals name things of the chain, which may have the name of a parameter.
  details['parameter'] === undefined
    ? message
    : [...fields, PAGE_FIELD].reduce(
        (text, { parameter, label }) => text.replaceAll(named(parameter)[lang], `“${label[lang]}”`),
        message,
      )

/** A parameter in a message. A value stands behind "is" or "值": it may be the name of a parameter, too. */
const named = (parameter: string) =>
  ({
    en: new RegExp(`(?<! is )(?:parameters? )?'${parameter}'`, 'gi'),
    // Chinese quotation marks stand without spaces.
    zh: new RegExp(`(?<!值为? ?)(?: ?参数)? ?'${parameter}' ?`, 'g'),
  }) as const
