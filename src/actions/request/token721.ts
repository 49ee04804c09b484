import { WHOLE_NUMBER, WHOLE_RULE, word } from './parameters.ts'

/** The id of an item of a collection. */
export const tokenId = () =>
  word<string>({
    type: 'integer',
    description: { en: 'Id of the item: its number in the collection, from 0.', zh: '资产 ID，即其在合集中的编号，从 0 开始。' },
    rule: WHOLE_RULE,
    pattern: `^${WHOLE_NUMBER}$`,
    minimum: 0,
    example: '0',
    elsewhere: ['id', 'tokenid', 'nft_id', 'item', 'item_id'],
    read: text => String(BigInt(text)),
  })
