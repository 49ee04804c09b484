import { argumentsAsRead } from '#chain/arguments.ts'
import { isContractId } from '#chain/names.ts'

type Done = {
  readonly actions: readonly { readonly contract: string; readonly action_name: string }[]
  readonly tx_receipt: {
    readonly status_code?: string | undefined
    readonly returns?: readonly string[] | undefined
  }
}

/** Ids of contracts that a transaction deployed: each `setCode` returns the id of its contract. */
export const contractsMade = ({ actions, tx_receipt }: Done): readonly string[] => {
  const { status_code, returns = [] } = tx_receipt
  if (status_code !== 'SUCCESS') return []
  return actions.flatMap(({ contract, action_name }, at) => {
    if (contract !== 'system.iost' || action_name !== 'setCode') return []
    const [id] = argumentsAsRead(returns[at] ?? '') ?? []
    return typeof id === 'string' && isContractId(id) ? [id] : []
  })
}
