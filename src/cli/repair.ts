import { type AlignResult, repair as repairStore } from '#audit/repair.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { absentStore, exists, nothingLoaded } from '#store/failures.ts'
import type { RestoreOutcome } from '#store/maintain-port.ts'
import type { Store } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { auditStore, type Outcome, outcomeJson, outcomeLines } from './auditing.ts'
import type { Command, CommandCall } from './command.ts'
import { connectNode, requireExisting, requireUsable, withStore } from './compose.ts'
import { LOGGING, NODE, STORE } from './settings.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'audit the store against a replay and a node; exit code 3 if anything differs',
  about: [
    'Derives everything again from the stored blocks and transactions, into a temporary file in the data folder, and compares the result with every stored document and with every row of every list. Each block is checked first: its parent hash, its merkle roots and its own hash.',
    'Prints one line per difference, at most 20 of a kind, and the totals.',
    "With --node, a sample of blocks is compared with the node, and all balances, votes and accounts if the node is at the same block. Stored blocks that fail a check are then replaced by the node's, for the audit only.",
    'Without --node, the text of actions cannot be checked: its hash includes signatures that nodes do not return. A changed text is found only where rows differ from it.',
    'A loader may run meanwhile. Ends with exit code 3 if anything differs, and with 75 if the store or the node is unreachable.',
  ],
  settings: [...NODE, ...STORE, 'sample', 'json', ...LOGGING],
  examples: [
    'iostlens verify',
    'iostlens verify --node http://127.0.0.1:30001 --sample 100000',
    'iostlens verify --json --store http://127.0.0.1:9200/iostlens',
  ],
  run: async call => {
    const { values, log, out } = call
    return withStore({ values, log }, async store => {
      await requireExisting(store)
      await requireUsable(store)
      const outcome = await auditStore(call, store)
      const { count } = outcome.found
      if (values.json) out(outcomeJson(store, outcome, {}))
      else for (const line of outcomeLines(store, outcome, formatSummary(outcome, values.node))) out(line)
      return count === 0 ? 0 : 3
    })
  },
}

function formatSummary({ audited, found }: Outcome, nodes: readonly string[] | undefined): string {
  if (found.count === 0) return 'whole'
  // Lost or wrong blocks, and data outside of the blocks, can only come from a node.
  const asksNode = nodes !== undefined || !audited.complete || found.beyondRepair > 0
  const repair = asksNode ? `iostlens repair --node ${nodes?.join(',') ?? 'URL'}` : 'iostlens repair'
  return `NOT WHOLE, ${found.count} differences. Run: '${repair}'`
}

export const repair: Command = {
  name: 'repair',
  summary: 'audit like verify and rewrite only what differs; --dry-run writes nothing',
  about: [
    'The record of the last block and of the chain is checked first. If it is lost or unreadable, it is written again from the stored data; if that data does not show where the store ends, everything is derived again.',
    "Then compares the end of the store with --node. If the last blocks are not the node's, their batches are undone, with the undo data of the last hours. If that data does not reach back far enough, everything is derived again up to the last common block, and the store cannot be read meanwhile. A wrong record of the store's last block or of its chain is corrected. If this step changed anything, the command ends here; 'iostlens verify' checks the rest.",
    "Otherwise the store is audited as with 'iostlens verify', and exactly the documents that differ are rewritten or removed. API keys are never touched. Lost or wrong blocks and transactions are taken from --node; if there are any, nothing is written without it.",
    'The text of an action is covered by no hash that can be recomputed. A changed text is corrected only if its block is in the --sample; otherwise the rows are rewritten to agree with the text.',
    'The command refuses to run while a loader is running. It may be killed and started again. --dry-run only prints what would be done, and does not lock the store.',
    'Ends with exit code 0 if everything that was found is repaired, and with 3 if anything is left (or would be written).',
  ],
  settings: [...NODE, ...STORE, 'lease', 'sample', 'dry-run', 'json', ...LOGGING],
  examples: [
    'iostlens repair --dry-run --node http://127.0.0.1:30001',
    'iostlens repair --node http://127.0.0.1:30001',
  ],
  run: async call => {
    const { values, log } = call
    return withStore({ values, log }, async store => {
      const dryRun = values['dry-run']
      if (dryRun) await requireExisting(store)
      const restored = dryRun ? 'whole' : await store.restore()
      await requireUsable(store)
      if (dryRun) return tellAudited(call, store, await auditStore(call, store))
      const { aligned, outcome } = await held(store, call, restored)
      if (outcome === undefined) return tellAligned(call, store, aligned)
      return tellAudited(call, store, outcome)
    })
  },
}

type Held = { readonly aligned: AlignResult; readonly outcome?: Outcome }

/** Repairs the store while no other process can write to it. */
async function held(store: Store, call: CommandCall, restored: RestoreOutcome): Promise<Held> {
  const identity = await store.identity()
  if (identity === undefined) throw (await exists(store)) ? nothingLoaded(store.name) : absentStore(store.name)
  const node = connectNode(call.values, call.log)
  const { prove } = call.values
  const writer = await store.takeOver(identity, { repair: true })
  let outcome: Outcome | undefined
  try {
    const asked = { ...(node === undefined ? {} : { node }), ...(prove === undefined ? {} : { prove }) }
    const parts = { store, writer, restored, clock: systemClock, ...asked }
    const { aligned } = await repairStore(parts, call.signal, async () => {
      outcome = await auditStore(call, store, writer)
      return outcome.audited
    })
    // Every document was checked, so all stored documents belong there.
    if (outcome !== undefined && countLeft(outcome) === 0) await writer.accept?.()
    return { aligned, ...(outcome === undefined ? {} : { outcome }) }
  } finally {
    node?.close()
    await writer.release()
  }
}

/** Reports a repair that corrected only the end of the store. */
function tellAligned({ values, out }: CommandCall, store: Store, { way, end, from }: AlignResult): 0 {
  const text =
    way === 'back'
      ? `the batches of blocks ${end.height + 1} to ${from} were undone`
      : 'the record of the last block and the chain was corrected'
  const rest = "no document was checked, run 'iostlens verify' to check the rest"
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

function tellAudited({ values, out }: CommandCall, store: Store, outcome: Outcome): 0 | 3 {
  const dryRun = values['dry-run']
  const left = dryRun ? outcome.found.count : countLeft(outcome)
  if (values.json) out(outcomeJson(store, outcome, { dry_run: dryRun, left }))
  else for (const line of outcomeLines(store, outcome, formatRepaired(outcome, dryRun, left))) out(line)
  return left === 0 ? 0 : 3
}

/**
 * The number of differences left: all of them if the state could not be derived from the blocks, otherwise
 * those that only the node can correct.
 */
const countLeft = ({ audited, found }: Outcome): number => (audited.complete ? found.beyondRepair : found.count)

function formatRepaired({ audited, found }: Outcome, dryRun: boolean, left: number): string {
  if (found.count === 0) return 'whole, nothing to repair'
  if (!audited.complete) return 'nothing was written'
  return dryRun
    ? `${found.count} differences would be repaired, nothing was written`
    : `${found.count - left} differences were repaired, ${left} are left`
}
