import { type DocOf, defineIndex } from './define.ts'
import { keyword, sortedInt, sortedLong } from './fields.ts'

/** Gas pledges, one document per (pledger, beneficiary). Id: `pledgeId`. Amounts in 10^-8 IOST. */
export const pledges = defineIndex({
  name: 'pledges',
  kind: 'state',
  orders: { ofPledger: { group: 'pledger', positive: ['amount'], by: [['seq', 'asc']] } },
  fields: {
    pledger: keyword(),
    beneficiary: keyword(),
    amount: sortedLong(),
    /** Order of arrival over the whole chain; a pair that fell to zero and comes back gets a new one. */
    seq: sortedInt(),
  },
})
export type PledgeDoc = DocOf<typeof pledges>

export const pledgeId = (pledger: string, beneficiary: string): string => `${pledger}/${beneficiary}`
