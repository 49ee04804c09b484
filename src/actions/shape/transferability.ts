import type { TokenDoc } from '#indices/token.ts'
import { flag } from './results.ts'

/** Fields about the right to transfer a token, set permanently when it is created. */
export const transferability = {
  can_transfer: flag('Whether the token can be transferred.', '是否可转账。'),
  only_issuer_can_transfer: flag(
    "Whether every transfer needs the issuer's permission.",
    '每次转账是否都须发行者授权。',
  ),
}

type Transferability = Pick<TokenDoc, keyof typeof transferability>

/** `transferability` of a token. */
export const toTransferability = ({ can_transfer, only_issuer_can_transfer }: Transferability): Transferability => ({
  can_transfer,
  only_issuer_can_transfer,
})
