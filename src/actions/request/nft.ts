import { defineParameter, WHOLE_NUMBER, WHOLE_RULE } from './parameters.ts'

/** The symbol of a collection of NFTs. */
export const collection = () =>
  defineParameter<string>({
    type: 'string',
    description: {
      en: 'NFT collection: its symbol in token721.iost.',
      zh: 'NFT 合集，即其在 token721.iost 中的符号。',
    },
    rule: {
      en: 'the symbol of a collection (1 to 64 characters of a-z, 0-9, . and _)',
      zh: '合集符号，由 1 至 64 个 a-z、0-9、_、. 字符组成',
    },
    pattern: '^[a-z0-9_.]{1,64}$',
    example: 'nft_cats',
    sample: 'collection',
    foreignNames: ['symbol', 'token', 'contract', 'collection_id', 'collectionid'],
    read: text => text,
  })

/** The id of an NFT in its collection, in its form on the chain: without leading zeros. */
export const tokenId = () =>
  defineParameter<string>({
    type: 'integer',
    description: {
      en: 'Id of the NFT: its number in the collection, from 0.',
      zh: 'NFT 的 ID，即其在合集中的编号，从 0 开始。',
    },
    rule: WHOLE_RULE,
    pattern: `^${WHOLE_NUMBER}$`,
    minimum: 0,
    example: '0',
    sample: 'nft',
    foreignNames: ['id', 'tokenid', 'nft_id', 'item', 'item_id'],
    read: text => String(BigInt(text)),
  })
