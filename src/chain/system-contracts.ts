import type { Action, Block } from './block.ts'
import { hasFailed } from './effects.ts'

/** First argument of an action, when its data is a JSON list that begins with a text. */
const firstArgument = (action: Action): string | undefined => {
  try {
    const data = JSON.parse(action.data) as unknown
    const first: unknown = Array.isArray(data) ? data[0] : undefined
    return typeof first === 'string' ? first : undefined
  } catch {
    return undefined
  }
}

/** Actions of system.iost that put a contract of the chain itself in place; the code is not in the chain. */
const PLACING: ReadonlySet<string> = new Set(['initSetCode', 'updateNativeCode'])

const isPlacing = ({ contract, actionName }: Action, height: number): boolean =>
  contract === 'system.iost' && PLACING.has(actionName) && (actionName !== 'initSetCode' || height === 0)

/**
 * Ids of the system contracts that a block brings or changes (genesis `initSetCode`, successful `updateNativeCode`), in
 * order, each once: what they offer must be asked of a node. Contracts of users carry their ABI in the chain.
 */
export const systemContractsIn = (block: Block): readonly string[] => {
  const ids = new Set<string>()
  for (const tx of block.transactions) {
    if (hasFailed(tx)) continue
    for (const action of tx.actions) {
      const id = isPlacing(action, block.height) ? firstArgument(action) : undefined
      if (id !== undefined) ids.add(id)
    }
  }
  return [...ids]
}
