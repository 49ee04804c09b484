import type { Text } from '#actions/text.ts'

/** Two fields of a token's answers. */
type Transferability = { readonly can_transfer: boolean; readonly only_issuer_can_transfer: boolean }

/** Who may transfer a token. */
export const transferabilityOf = ({ can_transfer, only_issuer_can_transfer }: Transferability): Text => {
  if (!can_transfer) return { en: 'Not allowed', zh: '不允许' }
  return only_issuer_can_transfer
    ? { en: "Only with the issuer's permission", zh: '须发行者授权' }
    : { en: 'Allowed', zh: '允许' }
}
