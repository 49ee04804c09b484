import { Type } from '@sinclair/typebox'
import { toIso } from '#chain/time.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { producers } from '#indices/producer.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { unknown } from './find/loading.ts'
import { producer } from './request/parameter-types.ts'
import { count, exact, flag, shape, text } from './shape/results.ts'
import { nameProducerStatus, producerStatusIfRegistered, toIost } from './shape/values.ts'

/** The registration of a producer, current or former. */
export const getProducerRegistration = defineAction({
  module: 'producer',
  action: 'get-producer-registration',
  title: { en: 'Registration of a producer', zh: '生产者的注册情况' },
  summary: {
    en: 'Whether an account is registered as a producer, or since when it no longer is, with the votes that it still has. An account that was never registered is not found.',
    zh: '账户目前是否注册为生产者；已注销的给出注销的区块与时间，以及仍投给它的票数。从未注册过的账户按不存在处理。',
  },
  params: Type.Object({ producer: producer() }),
  result: shape({
    account: text('Account name of the producer.', '生产者的账户名。'),
    registered: flag(
      'Whether the producer is in the table of producers; status says whether it is approved.',
      '目前是否在生产者表中；是否已获批准见 status。',
    ),
    status: Type.Optional(producerStatusIfRegistered()),
    unregistered_block: Type.Optional(
      count(
        'Number of the block in which the producer was unregistered; absent while it is registered.',
        '注销所在的区块高度；注册期间没有此字段。',
      ),
    ),
    unregistered_at: Type.Optional(
      text(
        'Time of that block, ISO-8601 UTC, cut to milliseconds; absent while the producer is registered.',
        '该区块的时间，ISO-8601 UTC，截断到毫秒；注册期间没有此字段。',
      ),
    ),
    votes: exact('Votes, in IOST.', '票数（IOST）。'),
    voter_count: count('Number of accounts that vote for the producer.', '为该生产者投票的账户数。'),
    block_count: count('Number of blocks the producer signed.', '出块数。'),
    received_award: exact('IOST received as rewards for blocks and votes.', '已获得的出块奖励与投票奖励（IOST）。'),
    pubkey: text(
      "Public key that signs the producer's blocks; the last one if it is not registered.",
      '用于签名区块的公钥；已注销时为最后一个。',
    ),
    loc: text('Registered location, or the last one.', '登记的地区；已注销时为最后登记的。'),
    url: text('Registered URL, or the last one.', '登记的网址；已注销时为最后登记的。'),
  }),
  run: async (context, { producer: account }) => {
    const found = await context.view.get(producers, account)
    // Accounts with rewards, keys, or votes under earlier contracts also have a document.
    if (found === undefined || !(found.registered || found.unregistered !== undefined))
      throw unknown(context, 'producer', account)
    return {
      account,
      registered: found.registered,
      ...(found.registered ? { status: nameProducerStatus(found) } : {}),
      ...(found.unregistered === undefined ? {} : await readUnregistration(context.view, found.unregistered)),
      votes: toIost(found.votes),
      voter_count: found.voter_count,
      block_count: found.block_count,
      received_award: toIost(found.received_award),
      pubkey: found.pubkey,
      loc: found.loc,
      url: found.url,
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { producer: 'prod_11' },
})

async function readUnregistration(view: View, height: number) {
  const block = await view.get(blocks, blockId(height))
  if (block === undefined) throw missingData(`Block ${height} is not stored.`)
  return { unregistered_block: height, unregistered_at: toIso(block.time) }
}
