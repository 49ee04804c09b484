import type { Aligned } from '#audit/align.ts'
import { repair as repairStore } from '#audit/repair.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'
import { auditStore, type Outcome, outcomeJson, outcomeLines } from './auditing.ts'
import type { Call, Command } from './command.ts'
import { connectNode, openStore, requireUsable } from './compose.ts'
import { LOGGING, NODE, STORE } from './setting-groups.ts'

export const repair: Command = {
  name: 'repair',
  words: [],
  summary: 'rewrite exactly what verify finds; --dry-run tells it first',
  about:
    "First the end of the store: where its last blocks are not the node's, as many batches are taken back as it takes, from what is kept of the last hours; where that does not reach, everything is derived anew up to the last block that both have, and nobody reads the store meanwhile. Where only what it says of its end or of its chain is wrong, that is put right. When that was all, the rest is not looked at: 'iostlens verify' does. Else it finds what 'iostlens verify' finds and rewrites or removes exactly the documents that differ from the replay; API keys are never touched. Blocks and transactions that are lost or wrong come from --node; without one nothing is written when there are any. The text of an action is covered by no hash that can be made anew: where it was changed, only a --sample that has its block puts it right; without one the rows are made to agree with it. Refuses while a loader holds the store. May be killed and started again. With --dry-run it only tells what it would do, and holds nothing. Ends with 0 when all it found is right again, with 3 when something is left (or would be written).",
  settings: [...NODE, ...STORE, 'lease', 'sample', 'dry-run', 'json', ...LOGGING],
  examples: [
    'iostlens repair --dry-run --node http://127.0.0.1:30001',
    'iostlens repair --node http://127.0.0.1:30001',
  ],
  run: async call => {
    const { values, log } = call
    const store = openStore(values, log)
    try {
      await requireUsable(store)
      if (values['dry-run']) return tellAudited(call, store, await auditStore(call, store))
      const { aligned, outcome } = await held(store, call)
      if (outcome === undefined) return tellAligned(call, store, aligned)
      return tellAudited(call, store, outcome)
    } finally {
      await store.close()
    }
  },
}

type Held = { readonly aligned: Aligned; readonly outcome?: Outcome }

/** While nobody else may write. */
const held = async (store: Store, call: Call): Promise<Held> => {
  const identity = await store.identity()
  if (identity === undefined)
    throw new Failure('unavailable', `${store.name}: nothing is loaded yet.`, { retryable: true })
  const node = connectNode(call.values, call.log)
  const writer = await store.takeOver(identity, { mending: true })
  let outcome: Outcome | undefined
  try {
    const parts = { store, writer, ...(node === undefined ? {} : { node }) }
    const { aligned } = await repairStore(parts, call.signal, async () => {
      outcome = await auditStore(call, store, writer)
      return outcome.audited
    })
    // Every document was looked at: what is there is all that belongs there.
    if (outcome !== undefined && leftOf(outcome) === 0) await writer.accept?.()
    return { aligned, ...(outcome === undefined ? {} : { outcome }) }
  } finally {
    node?.close()
    await writer.release()
  }
}

/** Only the end was wrong, and is right now. */
const tellAligned = ({ values, out }: Call, store: Store, { way, end, from }: Aligned): 0 => {
  const text =
    way === 'back'
      ? `batches were taken back from block ${from}`
      : 'what the store says of its end and its chain was put right'
  const rest = "no document was looked at: 'iostlens verify' does that"
  if (values.json)
    out(
      writeJson({
        store: store.name,
        height: end.height,
        hash: end.hash,
        complete: false,
        whole: false,
        count: 1,
        left: 0,
        notes: [text, rest],
      }),
    )
  else out(`${store.name} at block ${end.height}, ${toIso(end.time)}: ${text}; ${rest}`)
  return 0
}

const tellAudited = ({ values, out }: Call, store: Store, outcome: Outcome): 0 | 3 => {
  const dryRun = values['dry-run']
  const left = dryRun ? outcome.found.count : leftOf(outcome)
  if (values.json) out(outcomeJson(store, outcome, { dry_run: dryRun, left }))
  else for (const line of outcomeLines(store, outcome, endOf(outcome, dryRun, left))) out(line)
  return left === 0 ? 0 : 3
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
