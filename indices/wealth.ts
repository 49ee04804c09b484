import { countedOrder, type DocOf, defineIndex, keyword, long, sortedLong } from './define.ts'

/** IOST of every account and user contract, in 10^-8. Id: the owner. */
export const wealth = defineIndex({
  name: 'wealth',
  kind: 'state',
  orders: {
    /** The list leaves out totals of 0; their documents remain. */
    richest: countedOrder(['total', 'owner'], { positive: true }),
  },
  fields: {
    owner: keyword(),
    /** token + vote + frozen. */
    total: sortedLong(),
    token: long(),
    vote: long(),
    frozen: long(),
  },
})
export type WealthDoc = DocOf<typeof wealth>
