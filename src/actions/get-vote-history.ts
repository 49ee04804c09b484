import { Type } from '@sinclair/typebox'
import { seriesOf } from '#indices/series.ts'
import { applyVoteEntry, parseVotes } from '#indices/series-entry.ts'
import { numberedRows } from './find/numbered.ts'
import { resolveOwner } from './find/owner.ts'
import { openChangeList } from './find/series.ts'
import { defineList } from './list/paging.ts'
import { owner, paging, sort } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { changeFields, changeRows } from './shape/changes.ts'
import { exact, listOfRows, shape, text } from './shape/results.ts'
import { toIost } from './shape/values.ts'

const { seq: voteSeq, ...voteFields } = {
  ...changeFields,
  producer: text('The producer.', '生产者。'),
  change: exact(
    'Votes that were added; negative if they were taken back. In IOST.',
    '增加的票数；撤回时为负数（IOST）。',
  ),
  votes: exact('Votes of the account for this producer after it, in IOST.', '变动后该账户投给此生产者的票数（IOST）。'),
  total_votes: exact(
    'Votes of the account for all producers after it, in IOST.',
    '变动后该账户投给所有生产者的总票数（IOST）。',
  ),
}

/** All votes of an owner over time. */
export const getVoteHistory = defineList({
  module: 'account',
  action: 'get-vote-history',
  title: { en: 'Votes of an account over time', zh: '账户投票历史' },
  summary: {
    en: 'Every vote and unvote of an account or contract for producers, newest first; sort=asc returns the exact reverse. Votes that a contract cast for the account in a transaction of somebody else are included. The votes of any moment are given by get-account-balance with at_block or at_time.',
    zh: '账户或合约为生产者投票与撤票的全部记录，最新的在前；sort=asc 时顺序完全相反。合约在他人交易中代该账户投出的票也包括在内。任意时刻的投票可用 get-account-balance 加 at_block 或 at_time 查询。',
  },
  params: Type.Object({ account: owner(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: listOfRows('votes', shape({ seq: voteSeq, ...voteFields }), changesTitle),
  compatResult: listOfRows('votes', shape(voteFields), changesTitle),
  list: 'votes',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { account, ...asked }) => {
      const { view, compat } = context
      const all = await openChangeList(view, seriesOf.voter(await resolveOwner(context, account)))
      const votes = { from: parseVotes, after: applyVoteEntry }
      return {
        ...(await numberedRows(context, all, asked)),
        rows: changeRows(votes, compat, ({ change, more: [producer = ''] }, after) => ({
          producer,
          change: toIost(change),
          votes: toIost(after.get(producer) ?? 0n),
          total_votes: toIost([...after.values()].reduce((sum, each) => sum + each, 0n)),
        })),
      }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'user_000', page: '1', size: '5' },
})
