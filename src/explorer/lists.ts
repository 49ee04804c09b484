/** The pages of lists, in display order. */
export const LISTS = [
  ['/blocks', { en: 'Blocks', zh: '区块' }],
  ['/transactions', { en: 'Transactions', zh: '交易' }],
  ['/tokens', { en: 'Tokens', zh: '代币' }],
  ['/nfts', { en: 'NFTs', zh: 'NFT 合集' }],
  ['/contracts', { en: 'Contracts', zh: '合约' }],
  ['/producers', { en: 'Producers', zh: '生产者' }],
  ['/wealth', { en: 'Rich list', zh: '财富榜' }],
  ['/statistics', { en: 'Statistics', zh: '统计' }],
] as const

/** Whether a page is about one item of a list. Paths are without language. */
export const isWithin = (list: string, path: string): boolean =>
  path.startsWith(list === '/transactions' ? '/tx/' : list === '/statistics' ? '/statistics/' : `${list.slice(0, -1)}/`)
