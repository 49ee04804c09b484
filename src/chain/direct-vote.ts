import { argumentsAsRead } from './arguments.ts'
import type { Action } from './block.ts'
import type { ExactJson } from './json.ts'

const NAMES: ReadonlySet<string> = new Set(['vote', 'unvote', 'voteFor'])
/** Id of the vote for producers: genesis makes it as the first vote (`config/genesis/contract/vote_producer.js` _initVote). */
const FOR_PRODUCERS = '1'

/**
 * A vote for a producer that was given to vote.iost itself, with the arguments of the action of vote_producer.iost that
 * has its name; undefined: the action is none. Until vote.iost 1.0.1 and its setCanVote, anyone could give one.
 */
export function directVote(action: Action): { readonly name: string; readonly args: readonly ExactJson[] } | undefined {
  if (action.contract !== 'vote.iost' || !NAMES.has(action.actionName)) return undefined
  const [vote, ...args] = argumentsAsRead(action.data) ?? []
  return vote === FOR_PRODUCERS ? { name: action.actionName, args } : undefined
}
