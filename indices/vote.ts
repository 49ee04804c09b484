import { countedOrder, type DocOf, defineIndex, keyword, sortedLong } from './define.ts'

/** Producer votes, one document per (producer, voter). Id: `voteId`. Votes in 10^-8. */
export const votes = defineIndex({
  name: 'votes',
  kind: 'state',
  orders: {
    voters: countedOrder(['votes', 'voter'], { group: 'producer', positive: true }),
    ofVoter: {
      group: 'voter',
      positive: ['votes'],
      by: [
        ['votes', 'desc'],
        ['producer', 'asc'],
      ],
    },
  },
  fields: { producer: keyword(), voter: keyword(), votes: sortedLong() },
})
export type VoteDoc = DocOf<typeof votes>

export const voteId = (producer: string, voter: string): string => `${producer}/${voter}`
