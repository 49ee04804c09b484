import type { Failure } from '#failure/failure.ts'
import type { Context } from '../define.ts'
import { shown } from '../request/refusals.ts'
import { absent } from './loading.ts'

const NOUNS = {
  account: ['Account', '账户'],
  owner: ['Account', '账户'],
  block: ['Block', '区块'],
  transaction: ['Transaction', '交易'],
  contract: ['Contract', '合约'],
  token: ['Token', '代币'],
  collection: ['Collection', '合集'],
  nft: ['NFT', 'NFT'],
  producer: ['Producer', '生产者'],
} as const

/** The failure for a requested thing that does not exist ('not_found', or 'loading'). */
export const unknown = (
  context: Pick<Context, 'view' | 'node'>,
  kind: keyof typeof NOUNS,
  name: string,
): Failure => {
  const [en, zh] = NOUNS[kind]
  return absent(context, { en: `${en} ${shown(name)}`, zh: `${zh} ${shown(name)}` })
}

/**
 * null for a thing that does not exist, in answers about several things. Throws the failure if it may exist
 * ('loading').
 */
export const nullFor = (failure: Failure): null => {
  if (failure.kind !== 'not_found') throw failure
  return null
}
