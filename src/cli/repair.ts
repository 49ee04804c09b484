import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'
import { auditStore, type Outcome, outcomeJson, outcomeLines } from './auditing.ts'
import type { Command } from './command.ts'
import { openStore, requireUsable } from './compose.ts'
import { LOGGING, NODE, STORE } from './setting-groups.ts'

export const repair: Command = {
  name: 'repair',
  words: [],
  summary: 'rewrite exactly what verify finds; --dry-run tells it first',
  about:
    "Finds what 'iostlens verify' finds and rewrites or removes exactly the documents that differ from the replay; API keys are never touched. Blocks and transactions that are lost or wrong come from --node; without one nothing is written when there are any. The text of an action is covered by no hash that can be made anew: where it was changed, only a --sample that has its block puts it right; without one the rows are made to agree with it. Refuses while a loader holds the store. May be killed and started again. With --dry-run it only tells what it would do, and holds nothing. Ends with 0 when all is right again, with 3 when something is left (or would be written).",
  settings: [...NODE, ...STORE, 'lease', 'sample', 'dry-run', 'json', ...LOGGING],
  examples: [
    'iostlens repair --dry-run --node http://127.0.0.1:30001',
    'iostlens repair --node http://127.0.0.1:30001',
  ],
  run: async call => {
    const { values, log, out } = call
    const store = openStore(values, log)
    try {
      await requireUsable(store)
      const outcome = values['dry-run'] ? await auditStore(call, store) : await held(store, call)
      const left = values['dry-run'] ? outcome.found.count : leftOf(outcome)
      if (values.json) out(outcomeJson(store, outcome, { dry_run: values['dry-run'], left }))
      else for (const line of outcomeLines(store, outcome, endOf(outcome, values['dry-run'], left))) out(line)
      return left === 0 ? 0 : 3
    } finally {
      await store.close()
    }
  },
}

/** While nobody else may write. */
const held = async (store: Store, call: Parameters<Command['run']>[0]): Promise<Outcome> => {
  const identity = await store.identity()
  if (identity === undefined)
    throw new Failure('unavailable', `${store.name}: nothing is loaded yet.`, { retryable: true })
  const writer = await store.takeOver(identity)
  try {
    return await auditStore(call, store, writer)
  } finally {
    await writer.release()
  }
}

/** What the replay can not put right: nothing when the blocks are not enough, and what only the node says. */
const leftOf = ({ audited, found }: Outcome): number => (audited.complete ? found.beyondRepair : found.count)

const endOf = ({ audited, found }: Outcome, dryRun: boolean, left: number): string => {
  if (found.count === 0) return 'whole, nothing to do'
  if (!audited.complete) return 'nothing was written'
  return dryRun
    ? `${found.count} differences would be put right, nothing was written`
    : `${found.count - left} differences were put right, ${left} are left`
}
