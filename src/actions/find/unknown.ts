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
export function unknown(context: Pick<Context, 'view' | 'node'>, kind: keyof typeof NOUNS, name: string): Failure {
  const [en, zh] = NOUNS[kind]
  return absent(context, { en: `${en} ${shown(name)}`, zh: `${zh} ${shown(name)}` })
}

/**
 * The things that exist, of several that a list names, in the order of their names. Throws the failure for one that
 * does not exist. With `compat=iostabc` an unknown name is an empty list, so what the others have is answered, and the
 * failure is thrown only where nothing was found.
 */
export function requireFound<T>(
  context: Pick<Context, 'view' | 'node' | 'compat'>,
  kind: keyof typeof NOUNS,
  found: readonly (readonly [name: string, one: T | undefined])[],
): readonly T[] {
  const all = found.flatMap(([, one]) => (one === undefined ? [] : [one]))
  for (const [name, one] of found) {
    if (one !== undefined) continue
    const failure = unknown(context, kind, name)
    if (context.compat !== 'iostabc' || all.length === 0) throw failure
    toNull(failure)
  }
  return all
}

/**
 * null for a thing that does not exist, in answers about several things. Throws the failure if it may exist
 * ('loading').
 */
export function toNull(failure: Failure): null {
  if (failure.kind !== 'not_found') throw failure
  return null
}
