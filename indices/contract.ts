import { bool, type DocOf, defineIndex, int, json, long, name, optional, text } from './define.ts'

/** Contracts, system ones included. Id: the contract's id. */
export const contracts = defineIndex({
  name: 'contracts',
  kind: 'state',
  named: 'contract',
  fields: {
    contract: name(),
    publisher: text(),
    /** The account that pays its RAM: publisher of setCode; for system contracts the chain's own text, often empty. */
    owner: text(),
    system: bool(),
    version: text(),
    language: text(),
    /** The actions of a contract, as the node's getContract returns them. */
    abis: json<
      readonly {
        readonly name: string
        readonly args: readonly string[]
        readonly amount_limit: readonly { readonly token: string; readonly value: string }[]
      }[]
    >(),
    height: int(),
    time: long(),
    tx_hash: text(),
    /** Position of the action that set its code. Absent: the chain does not contain its code. */
    code_at: optional(json<readonly [height: number, tx: number, action: number]>()),
  },
})
export type ContractDoc = DocOf<typeof contracts>
