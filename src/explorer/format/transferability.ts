import type { Text } from '#actions/text.ts'

/** The transfer fields in a token's answers. */
type Transferability = { readonly can_transfer: boolean; readonly only_issuer_can_transfer: boolean }

/** The permission that transfers of a token need, in words. */
export const transferabilityOf = ({ can_transfer, only_issuer_can_transfer }: Transferability): Text => {
  if (!can_transfer) return { en: 'Not allowed', zh: '不允许' }
  return only_issuer_can_transfer
    ? { en: "Only with the issuer's permission", zh: '须发行者授权' }
    : { en: 'Allowed', zh: '允许' }
}
