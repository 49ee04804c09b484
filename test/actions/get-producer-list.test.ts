import { describe, expect, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { oracle } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'

const STATUSES = ['APPLY', 'APPROVED', 'UNAPPLY', 'UNAPPLY_APPROVED']

/** The producers of the contract's table, sorted by votes, then by name. */
async function expected() {
  const { producers, producerVotes } = await oracle()
  const votesOf = (name: string) => toUnits(String(producerVotes.get(name)?.get('votes') ?? '0'), 8)
  const sorted = [...producers].toSorted(([a], [b]) =>
    votesOf(a) === votesOf(b) ? (a < b ? -1 : 1) : votesOf(a) > votesOf(b) ? -1 : 1,
  )
  return Promise.all(
    sorted.map(async ([account, row], at) => ({
      account,
      alias: '',
      alias_en: '',
      ranking: at + 1,
      votes: fromUnits(votesOf(account), 8),
      // All recorded votes were cast on the last day.
      votes_change_7d: fromUnits(votesOf(account), 8),
      voter_count: (await ask('get-producer-voter', { producer: account, size: '1' })).total,
      status: STATUSES[Number(row.get('status'))],
      online: row.get('online'),
      isProducer: row.get('isProducer'),
      // One producer signs every block of the recording except genesis.
      block_count: account === 'producer000' ? 4851 : 0,
      received_award: (await ask('get-producer-detail', { producer: account })).received_award,
      loc: row.get('loc'),
      url: row.get('url'),
    })),
  )
}

describe('get-producer-list', () => {
  test("get-producer-list: lists the contract's table by votes, in pages of every size and both orders", async () => {
    const whole = await expected()
    expect(whole.length).toBe(13)
    for (const [sort, rows] of [
      ['desc', whole],
      ['asc', whole.toReversed()],
    ] as const)
      for (let size = 1; size <= whole.length + 1; size++)
        for (let page = 1; page <= Math.ceil(whole.length / size) + 1; page++)
          expect(await ask('get-producer-list', { page: `${page}`, size: `${size}`, sort })).toEqual({
            producers: rows.slice((page - 1) * size, page * size),
            page,
            size,
            total: whole.length,
          })
  })

  test('get-producer-list: returns the names of the profile file', async () => {
    const profile = { alias: '名', alias_en: 'Name' }
    const deps = {
      profiles: { get: (name: string) => (name === 'producer000' ? (profile as never) : undefined) },
    }
    const { producers } = await ask('get-producer-list', {}, { deps })
    const named = producers.filter(({ alias }: { readonly alias: string }) => alias !== '')
    expect(named.map(({ account, alias, alias_en }: Record<string, string>) => [account, alias, alias_en])).toEqual([
      ['producer000', '名', 'Name'],
    ])
  })
})
