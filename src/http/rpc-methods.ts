import type { Text } from '#actions/define.ts'

/** One segment of a node path after the method's name. */
type Segment = {
  readonly name: string
  /** Matches the raw, undecoded segment. A `%`, a slash or only dots never match. */
  readonly pattern: RegExp
  readonly rule: Text
  readonly example: string
}

/** A read-only GET method of the node (chain documentation, HTTP RPC). */
export type RpcMethod = {
  readonly name: string
  readonly segments: readonly Segment[]
  readonly title: Text
}

const hash: Segment = {
  name: 'hash',
  pattern: /^[1-9A-HJ-NP-Za-km-z]{1,64}$/,
  rule: { en: '1 to 64 base58 characters', zh: '1 至 64 个 base58 字符' },
  example: '8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg',
}
const txHash: Segment = { ...hash, example: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' }
const number: Segment = {
  name: 'number',
  pattern: /^[0-9]{1,19}$/,
  rule: { en: 'a whole number of at most 19 digits', zh: '不超过 19 位的非负整数' },
  example: '4851',
}
/** A boolean in the spellings of Go's ParseBool, which the node uses. */
const flag = (name: string): Segment => ({
  name,
  pattern: /^(?:true|false|True|False|TRUE|FALSE|t|f|T|F|1|0)$/,
  rule: { en: 'true or false', zh: 'true 或 false' },
  example: 'true',
})
const complete = flag('complete')
const longest = flag('by_longest_chain')
const defineName = (name: string, example: string): Segment => ({
  name,
  pattern: /^(?!\.+$)[A-Za-z0-9_.]{1,100}$/,
  rule: { en: '1 to 100 letters, digits, dots or _', zh: '1 至 100 个字母、数字、点或 _' },
  example,
})
const account = defineName('account', 'admin')
const tokenId: Segment = {
  ...defineName('token_id', '0'),
  pattern: /^(?!\.+$)[A-Za-z0-9_.-]{1,64}$/,
  rule: { en: '1 to 64 letters, digits, dots, _ or -', zh: '1 至 64 个字母、数字、点、_ 或 -' },
}

const method = (name: string, segments: readonly Segment[], title: Text): RpcMethod => ({
  name,
  segments,
  title,
})

/** The node methods that the gateway allows; all others are refused. */
export const rpcMethods: readonly RpcMethod[] = [
  method('getNodeInfo', [], {
    en: 'Node information: version, mode, network.',
    zh: '全节点信息：版本、模式、网络。',
  }),
  method('getChainInfo', [], {
    en: 'Chain information: head block, last irreversible block, witnesses.',
    zh: '链信息：链头区块、最新的不可逆区块、当前出块的生产者（witness）。',
  }),
  method('getRAMInfo', [], { en: 'RAM: used, available, prices.', zh: 'RAM：已用、可用、价格。' }),
  method('getGasRatio', [], { en: 'Gas ratios of the head block.', zh: '链头区块的 gas 倍率。' }),
  method('getTxByHash', [txHash], { en: 'A transaction with its receipt.', zh: '交易及其收据。' }),
  method('getTxReceiptByTxHash', [txHash], { en: 'The receipt of a transaction.', zh: '交易收据。' }),
  method('getBlockByHash', [hash, complete], { en: 'A block by hash.', zh: '按哈希查询区块。' }),
  method('getBlockByNumber', [number, complete], { en: 'A block by number.', zh: '按高度查询区块。' }),
  method('getRawBlockByNumber', [number, complete], {
    en: 'A block in its storage format.',
    zh: '存储格式的区块。',
  }),
  method('getAccount', [account, longest], { en: 'An account.', zh: '账户信息。' }),
  method('getTokenBalance', [account, defineName('token', 'iost'), longest], {
    en: 'A token balance.',
    zh: '代币余额。',
  }),
  method('getToken721Balance', [account, defineName('token', 'nft_cats'), longest], {
    en: 'NFTs (token721) owned by an account.',
    zh: '账户持有的 NFT（token721）。',
  }),
  method('getToken721Metadata', [defineName('token', 'nft_cats'), tokenId, longest], {
    en: 'Metadata of an NFT (token721).',
    zh: 'NFT（token721）的元数据。',
  }),
  method('getToken721Owner', [defineName('token', 'nft_cats'), tokenId, longest], {
    en: 'Owner of an NFT (token721).',
    zh: 'NFT（token721）的持有者。',
  }),
  method('getContract', [defineName('id', 'token.iost'), longest], {
    en: 'A contract with its code and ABI.',
    zh: '合约及其代码和 ABI。',
  }),
  method('getContractVote', [defineName('id', 'vote_producer.iost'), longest], {
    en: 'Votes cast by a contract.',
    zh: '合约投出的票。',
  }),
  method('getProducerVoteInfo', [defineName('account', 'producer000'), longest], {
    en: 'A producer and its votes.',
    zh: '生产者及其得票。',
  }),
  method('getVoterBonus', [account, longest], {
    en: 'Bonus that a voter can withdraw.',
    zh: '投票者可领取的奖励。',
  }),
  method('getCandidateBonus', [defineName('account', 'producer000'), longest], {
    en: 'Bonus that a producer can withdraw.',
    zh: '生产者可领取的奖励。',
  }),
  method('getTokenInfo', [defineName('symbol', 'iost'), longest], { en: 'A token.', zh: '代币信息。' }),
]

/** Node methods that are temporarily refused: 503. */
export const rpcUnavailable: readonly string[] = ['sendTx', 'execTx', 'subscribe']

/** The path template of a method, such as `/rpc/getAccount/{account}/{by_longest_chain}`. */
export const formatMethodTemplate = ({ name, segments }: RpcMethod): string =>
  ['/rpc', name, ...segments.map(segment => `{${segment.name}}`)].join('/')

/** Path of an example call for the recorded chain. */
export const formatExamplePath = ({ name, segments }: RpcMethod): string =>
  ['/rpc', name, ...segments.map(({ example }) => example)].join('/')
