import type { ExactJson } from '#chain/json.ts'
import { isPossibleName } from '#chain/names.ts'
import { textAt } from './receipt.ts'

export type Parties = { readonly from: string; readonly to: string }

/** An action or a receipt: of which contract, its name, and its arguments when they are a list. */
export type Call = {
  readonly contract: string
  readonly name: string
  readonly args: readonly ExactJson[] | undefined
}

/** Positions of the two parties in the arguments; undefined: no party on that side. */
type Form = readonly [from: number | undefined, to: number | undefined]

/** Actions and receipts of system contracts whose arguments name both parties. */
const FORMS: ReadonlyMap<string, Form> = new Map([
  ['token.iost/transfer', [1, 2]],
  ['token.iost/transferFreeze', [1, 2]],
  ['token.iost/issue', [undefined, 1]],
  ['token.iost/destroy', [1, undefined]],
  ['token721.iost/transfer', [1, 2]],
  ['token721.iost/issue', [undefined, 1]],
  ['gas.iost/pledge', [0, 1]],
  ['gas.iost/unpledge', [1, 0]],
  ['vote_producer.iost/vote', [0, 1]],
  ['vote_producer.iost/unvote', [1, 0]],
  ['ram.iost/buy', [0, 1]],
  ['ram.iost/sell', [0, 1]],
  ['ram.iost/lend', [0, 1]],
])
/** Contracts whose other actions concern the account that their first argument names. */
const FIRST_IS_SUBJECT: ReadonlySet<string> = new Set(['auth.iost', 'vote_producer.iost', 'bonus.iost'])

/**
 * From whom to whom a row goes. Arguments are believed only where a system contract has that form and the names can be
 * names; all else goes from the publisher to the contract.
 */
export const partiesOf = ({ contract, name, args }: Call, publisher: string): Parties => {
  const plain = { from: publisher, to: contract }
  if (args === undefined || !contract.endsWith('.iost')) return plain
  const form = FORMS.get(`${contract}/${name}`)
  if (form !== undefined) {
    const from = party(args, form[0])
    const to = party(args, form[1])
    return from === undefined || to === undefined ? plain : { from, to }
  }
  if (!FIRST_IS_SUBJECT.has(contract)) return plain
  const subject = party(args, 0)
  if (subject === undefined) return plain
  return subject === publisher && name !== 'signUp' ? plain : { from: publisher, to: subject }
}

/** The accounts that have a row in their lists, each once: its parties, and the caller where it is an action's own. */
export const accountsOf = ({ from, to }: Parties, caller: string | undefined): readonly string[] => {
  const names: string[] = []
  if (isPossibleName(from)) names.push(from)
  if (to !== from && isPossibleName(to)) names.push(to)
  if (caller !== undefined && caller !== from && caller !== to) names.push(caller)
  return names
}

const party = (args: readonly ExactJson[], at: number | undefined): string | undefined => {
  if (at === undefined) return ''
  const name = textAt(args, at)
  return name !== undefined && isPossibleName(name) ? name : undefined
}
