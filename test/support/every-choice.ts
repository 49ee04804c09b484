import { OPTION_VALUES } from '#actions/request/options.ts'
import { FORM_NAMES, type Form } from '#http/openapi/action-operation.ts'

/** Every combination of options: each option is left out or has any of its values. */
export const everyChoice = (): readonly Partial<Form>[] =>
  FORM_NAMES.reduce<readonly Partial<Form>[]>(
    (choices, name) =>
      choices.flatMap(choice => [choice, ...OPTION_VALUES[name].map(value => ({ ...choice, [name]: value }))]),
    [{}],
  )
