import { expect, test } from 'bun:test'
import { withActionNames } from '#test/support/action-names.ts'
import { refusal } from '#test/support/refusal.ts'
import { askQuery } from '#test/support/stores/ask.ts'
import cases from './bad-requests.json'

for (const { query, en, zh } of cases)
  test(`answer: refuses ?${query}`, async () => {
    const pairs = [...new URLSearchParams(query)]
    expect(await refusal(askQuery(pairs))).toEqual({
      kind: 'bad_request',
      en: withActionNames(en),
      zh: withActionNames(zh),
    })
  })
