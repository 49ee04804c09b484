import { type DocOf, defineIndex, keyword, sortedInt, sortedLong } from './define.ts'

/** Gas pledges, one document per (pledger, beneficiary). Id: `pledgeId`. Amounts in 10^-8 IOST. */
export const pledges = defineIndex({
  name: 'pledges',
  kind: 'state',
  orders: { ofPledger: { group: 'pledger', positive: ['amount'], by: [['seq', 'asc']] } },
  fields: {
    pledger: keyword(),
    beneficiary: keyword(),
    amount: sortedLong(),
    /** Order of arrival over the whole chain. A pair that fell to zero and is pledged again gets a new number. */
    seq: sortedInt(),
  },
})
export type PledgeDoc = DocOf<typeof pledges>

export const pledgeId = (pledger: string, beneficiary: string): string => `${pledger}/${beneficiary}`
