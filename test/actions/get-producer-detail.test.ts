import { describe, expect, test } from 'bun:test'
import { oracle, recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

describe('get-producer-detail', () => {
  test('get-producer-detail: every registered producer is what its node says', async () => {
    const { producers } = await oracle()
    const wrong: unknown[] = []
    const votes: { readonly account: string; readonly votes: number; readonly ranking: number }[] = []
    for (const account of producers.keys()) {
      const node = JSON.parse((await rpcAnswers()).get(`GET /getProducerVoteInfo/${account}/true`) ?? 'null')
      const said = await ask('get-producer-detail', { producer: account })
      votes.push({ account, votes: Number(said.votes), ranking: said.ranking })
      const pick = {
        pubkey: said.pubkey,
        loc: said.loc,
        url: said.url,
        is_producer: said.isProducer,
        online: said.online,
        votes: Number(said.votes),
      }
      const { pubkey, loc, url, is_producer, online } = node
      const expected = { pubkey, loc, url, is_producer, online, votes: node.votes }
      if (!Bun.deepEquals(pick, expected, true)) wrong.push({ account, pick, expected })
    }
    expect({ count: votes.length, wrong }).toEqual({ count: 13, wrong: [] })
    const ranked = votes.toSorted((a, b) => b.votes - a.votes || (a.account < b.account ? -1 : 1))
    expect(ranked.map(({ ranking }) => ranking)).toEqual(ranked.map((_, at) => at + 1))
  })
  test('get-producer-detail: blocks are those its key signed', async () => {
    const blocks = (await recordedBlocks()).filter(({ block }) => block.witness !== '0')
    expect((await ask('get-producer-detail', { producer: 'producer000' })).block_count).toBe(blocks.length)
    expect((await ask('get-producer-detail', { producer: 'prod_01' })).block_count).toBe(0)
  })
  test('get-producer-detail: rewards and what voters got, from the receipts', async () => {
    const paid = new Map<string, { award: bigint; voters: bigint }>()
    const of = (account: string) => {
      const known = paid.get(account) ?? { award: 0n, voters: 0n }
      paid.set(account, known)
      return known
    }
    for (const { block } of await recordedBlocks())
      for (const { receipt } of block.transactions)
        for (const { funcName, content } of receipt.receipts) {
          if (funcName === 'token.iost/transfer' && content.startsWith('["iost","bonus.iost",')) {
            const [, , to, amount] = JSON.parse(content)
            of(to).award += toUnits(amount)
          } else if (funcName === 'vote_producer.iost/candidateWithdraw') {
            const [account, own, voters] = JSON.parse(content)
            of(account).award += toUnits(own)
            of(account).voters += toUnits(voters)
          } else if (funcName === 'vote_producer.iost/topupVoterBonus') {
            const [account, amount] = JSON.parse(content)
            of(account).voters += toUnits(amount)
          }
        }
    const { producers } = await oracle()
    const wrong: unknown[] = []
    const rates: { readonly account: string; readonly rate: bigint; readonly place: number }[] = []
    for (const account of producers.keys()) {
      const { award, voters } = paid.get(account) ?? { award: 0n, voters: 0n }
      const said = await ask('get-producer-detail', { producer: account })
      const votes = toUnits(said.votes)
      // Half up to 8 decimals of voters ÷ votes × 365 ÷ 30.
      const rate = votes === 0n ? 0n : (voters * 365n * 10n ** 8n * 2n + votes * 30n) / (votes * 60n)
      if (toUnits(said.received_award) !== award || toUnits(said.dividend_rate) !== rate)
        wrong.push({ account, award, rate, said })
      rates.push({ account, rate, place: said.dividend_rate_ranking })
    }
    expect(wrong).toEqual([])
    const ranked = rates.toSorted((a, b) =>
      a.rate === b.rate ? (a.account < b.account ? -1 : 1) : a.rate > b.rate ? -1 : 1,
    )
    expect(ranked.map(({ place }) => place)).toEqual(ranked.map((_, at) => at + 1))
  })
  test('get-producer-detail: texts of the profile file', async () => {
    const profile = {
      alias: '节点',
      alias_en: 'Node',
      description: '介绍',
      description_en: 'About',
      logo: 'https://x/l.png',
      statement: '宣言',
      statement_en: 'Say',
      type: '交易所',
      type_en: 'Exchange',
      social_media: { twitter: 'https://x' },
    }
    const profiles = { get: (name: string) => (name === 'prod_01' ? profile : undefined) }
    const said = await ask('get-producer-detail', { producer: 'prod_01' }, { deps: { profiles } })
    expect(Object.fromEntries(Object.keys(profile).map(name => [name, said[name]]))).toEqual(profile)
    const other = await ask('get-producer-detail', { producer: 'prod_02' }, { deps: { profiles } })
    expect([other.alias, other.social_media]).toEqual(['', {}])
  })
  test('get-producer-detail: unregistered and unknown producers are not found', async () => {
    expect(await refusal(ask('get-producer-detail', { producer: 'prod_11' }))).toEqual({
      kind: 'not_found',
      en: "Producer 'prod_11' does not exist at block 4851.",
      zh: "生产者 'prod_11' 不存在（截至区块 4851）。",
    })
    expect(await askText('get-producer-detail', { producer: 'admin' }, { compat: 'iostabc' })).toBe('{}')
  })
})

const toUnits = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(8, '0'))
}
