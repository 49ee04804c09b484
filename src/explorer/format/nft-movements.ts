import { argumentsAsRead } from '#chain/arguments.ts'
import type { NftMovement } from './movements.ts'

type NftTransaction = {
  readonly delay: unknown
  readonly actions: readonly { readonly contract: string; readonly action_name: string; readonly data: string }[]
  readonly tx_receipt: {
    readonly status_code?: string | undefined
    readonly returns?: readonly string[] | undefined
    readonly receipts?: readonly { readonly func_name: string; readonly content: string }[] | undefined
  }
}

const CONTRACT = 'token721.iost'
/** Under this id the contract keeps the issuer of a collection, which can be given to another. */
const ISSUER_FIELD = 'T721issuer'

/** The NFTs that a transaction issued or moved, by its own actions and within contracts, in order. */
export function listNftMovements(transaction: NftTransaction): readonly NftMovement[] {
  const { status_code, receipts = [] } = transaction.tx_receipt
  if (status_code !== 'SUCCESS' || Number(transaction.delay) > 0) return []
  const idOf = findIssuedIds(transaction)
  return receipts.flatMap(({ func_name, content }) => {
    const [collection, first, second, id] = readTexts(content)
    if (collection === undefined || first === undefined) return []
    const rest = { collection, memo: '', until: undefined }
    if (func_name === `${CONTRACT}/issue`) return [{ ...rest, from: '', to: first, nft: idOf(content) }]
    if (func_name !== `${CONTRACT}/transfer` || second === undefined || id === ISSUER_FIELD) return []
    return [{ ...rest, from: first, to: second, nft: id }]
  })
}

/** The receipt of an issue lacks the id, which the action returns. undefined: a contract issued the NFT. */
function findIssuedIds({
  actions,
  tx_receipt: { returns = [] },
}: NftTransaction): (content: string) => string | undefined {
  const issued = actions.flatMap(({ contract, action_name, data }, at) =>
    contract === CONTRACT && action_name === 'issue' ? [{ data, id: readTexts(returns[at] ?? '')[0] }] : [],
  )
  return content => {
    const at = issued.findIndex(({ data }) => data === content)
    return at < 0 ? undefined : issued.splice(at, 1)[0]?.id
  }
}

function readTexts(json: string): readonly (string | undefined)[] {
  return (argumentsAsRead(json) ?? []).map(value => (typeof value === 'string' ? value : undefined))
}
