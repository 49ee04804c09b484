import type { Text } from '#actions/text.ts'
import { isContractId } from '#chain/names.ts'

/** The kind of an owner. Apart from registered accounts, tokens can be given to other texts, too. */
export const ownerKind = (owner: string, isAccount: boolean): Text => {
  if (isAccount) return { en: 'Account', zh: '账户' }
  if (isContractId(owner)) return { en: 'Contract assets', zh: '合约资产' }
  return owner === '0' ? { en: 'Owner', zh: '持有者' } : { en: 'Public key or name', zh: '公钥或名称' }
}
