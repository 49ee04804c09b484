import { join } from 'node:path'
import { type AuditOptions, type AuditParts, type AuditResult, audit } from '#audit/audit.ts'
import { createFindings, type Findings, findingText } from '#audit/compare.ts'
import { type AlignResult, repair as repairStore } from '#audit/repair.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import { absentStore, nothingLoaded } from '#store/failures.ts'
import type { RestoreOutcome } from '#store/maintain-port.ts'
import type { Published, Store, Writer } from '#store/port.ts'
import { NOTHING_PROVED, type ProvedRange, trimProofs } from '#store/published.ts'
import { storeExists } from '#store/servable.ts'
import { openScratchFolder } from '#store/sqlite/lock.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import type { Command, CommandCall } from './command.ts'
import { connectNode, defineStoreRun, requireExisting, requireUsable, type StoreCall } from './compose.ts'
import { stageProgress } from './progress.ts'
import { LOGGING, NODE, STORE } from './settings.ts'

/**
 * A range of blocks with their level of proof; without `level`, they were loaded by a version that did not record it.
 */
type Stretch = Pick<ProvedRange, 'from' | 'to'> & Partial<Pick<ProvedRange, 'level' | 'agreed'>>

/** All blocks up to the published one, split by their level of proof: few ranges, without a gap. */
function listProvedStretches({ height, proved = NOTHING_PROVED }: Published): readonly Stretch[] {
  const stretches: Stretch[] = []
  let next = 0
  for (const range of trimProofs(proved, height + 1).ranges) {
    if (range.from > next) stretches.push({ from: next, to: range.from - 1 })
    stretches.push(range)
    next = range.to + 1
  }
  if (next <= height) stretches.push({ from: next, to: height })
  return stretches
}

/** One line for each range, and one for receipts whose bytes a node had lost. */
export function provedLines(published: Published): readonly string[] {
  const lost = published.proved?.lost ?? 0
  return [
    ...listProvedStretches(published).map(({ from, to, level, agreed }) => {
      const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`
      const how = level ?? 'not recorded, at best linked'
      return `${blocks}: ${how}${agreed === true ? ', and other nodes agreed' : ''}`
    }),
    ...(lost === 0 ? [] : [`${lost} receipts by the raw block, since the node's JSON had lost bytes`]),
  ]
}

export const provedJson = (published: Published) => ({
  ranges: listProvedStretches(published).map(({ from, to, level, agreed }) => ({
    from,
    to,
    level: level ?? 'not recorded',
    agreed: agreed === true,
  })),
  lost_receipts: published.proved?.lost ?? 0,
})

/** The parts and options of a command's audit, except the store. */
type AuditSetup = {
  /** The scratch store is empty. */
  readonly parts: Pick<AuditParts, 'scratch' | 'node' | 'prove'> & { readonly clock: Clock }
  /** Add the findings to `found` and show progress. */
  readonly options: AuditOptions
  readonly found: Findings
}

/** Runs `work` with an audit set up from the settings, and cleans up afterwards. */
export async function withAuditSetup<T>(
  { values, screen, log, signal }: CommandCall,
  work: (setup: AuditSetup) => Promise<T>,
): Promise<T> {
  const found = createFindings()
  const node = connectNode(values, log)
  // The scratch store is in the data folder: the derived copy may be too large for the system's temporary folder.
  const folder = openScratchFolder(values.data, 'audit-')
  const scratch = openSqlite({ path: join(folder.path, 'scratch.sqlite') })
  const options: AuditOptions = {
    sample: values.sample,
    signal,
    onFinding: found.add,
    onProgress: stageProgress({ screen, log }, { bar: 'Checking', log: 'Checked stored data.' }),
  }
  try {
    return await work({ parts: { scratch, clock: systemClock, node, prove: values.prove }, options, found })
  } finally {
    screen.bar('')
    node?.close()
    await scratch.close()
    folder.close()
  }
}

type Outcome = { readonly audited: AuditResult; readonly found: Findings }

/** Compares a store with what its blocks say; with `writer`, differences are corrected. */
async function compareStore(
  audited: { readonly store: Store; readonly writer?: Writer },
  { parts, options, found }: AuditSetup,
): Promise<Outcome> {
  try {
    return { audited: await audit({ ...parts, ...audited }, options), found }
  } catch (error) {
    if (options.signal?.aborted === true) throw new Failure('deadline', 'Stopped before everything was checked.')
    throw error
  }
}

/** Audits a store by the settings, and writes nothing. */
const auditStore = (call: StoreCall): Promise<Outcome> =>
  withAuditSetup(call, setup => compareStore({ store: call.store }, setup))

/** A line for each finding shown, then the total of each kind, then `end` as the summary. */
const outcomeLines = (store: Store, { audited, found }: Outcome, end: string): readonly string[] => [
  ...found.shown.map(findingText),
  ...[...found.totals].map(([kind, count]) => `${kind}: ${count} in all`),
  ...audited.notes,
  ...provedLines(audited.at).map(line => `proved when loaded: ${line}`),
  `${store.name} at block ${audited.at.height}, ${toIso(audited.at.time)}: ${end}`,
]

const outcomeJson = (store: Store, { audited, found }: Outcome, more: object): string =>
  writeJson({
    store: store.name,
    height: audited.at.height,
    hash: audited.at.hash,
    complete: audited.complete,
    whole: found.count === 0,
    count: found.count,
    totals: new Map(found.totals),
    findings: found.shown,
    notes: audited.notes,
    proved: provedJson(audited.at),
    ...more,
  })

const verify: Command = {
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
  run: defineStoreRun(async call => {
    const { values, out, store } = call
    await requireExisting(store)
    await requireUsable(store)
    const outcome = await auditStore(call)
    const { count } = outcome.found
    if (values.json) out(outcomeJson(store, outcome, {}))
    else for (const line of outcomeLines(store, outcome, formatSummary(outcome, values.node))) out(line)
    return count === 0 ? 0 : 3
  }),
}

function formatSummary({ audited, found }: Outcome, nodes: readonly string[] | undefined): string {
  if (found.count === 0) return 'whole'
  // Lost or wrong blocks can only come from a node.
  const asksNode = nodes !== undefined || !audited.complete
  const repair = asksNode ? `iostlens repair --node ${nodes?.join(',') ?? 'URL'}` : 'iostlens repair'
  return `NOT WHOLE, ${found.count} differences. Run: '${repair}'`
}

const repair: Command = {
  name: 'repair',
  summary: 'audit like verify and rewrite only what differs; --dry-run writes nothing',
  about: [
    'The record of the last block and of the chain is checked first. If it is lost or unreadable, it is written again from the stored data; if that data does not show where the store ends, everything is derived again.',
    "Then compares the end of the store with --node. If the last blocks are not the node's, their batches are undone, with the undo data of the last hours. If that data does not reach back far enough, everything is derived again up to the last common block, and the store cannot be read meanwhile. A wrong record of the store's last block or of its chain is corrected. If this step changed anything, the command ends here; 'iostlens verify' checks the rest.",
    "Otherwise the store is audited as with 'iostlens verify', and exactly the documents that differ are rewritten or removed. API keys are never touched. Lost or wrong blocks and transactions are taken from --node; if there are any, nothing is written without it.",
    'The text of an action is covered by no hash that can be recomputed. A changed text is corrected only if its block is in the --sample; otherwise the rows are rewritten to agree with the text.',
    'The command refuses to run while a loader is running. It may be killed and started again. --dry-run only audits and prints what differs; it does not compare the end of the store with the node, and does not lock the store.',
    'Ends with exit code 0 if everything that was found is repaired, and with 3 if anything is left (or would be written).',
  ],
  settings: [...NODE, ...STORE, 'lease', 'sample', 'dry-run', 'json', ...LOGGING],
  examples: [
    'iostlens repair --dry-run --node http://127.0.0.1:30001',
    'iostlens repair --node http://127.0.0.1:30001',
  ],
  run: defineStoreRun(async call => {
    const { values, store } = call
    const dryRun = values['dry-run']
    if (dryRun) await requireExisting(store)
    const restored = dryRun ? 'whole' : await store.restore()
    await requireUsable(store)
    if (dryRun) return tellAudited(call, await auditStore(call))
    const { aligned, outcome } = await repairLocked(call, restored)
    return outcome === undefined ? tellAligned(call, aligned) : tellAudited(call, outcome)
  }),
}

/** Repairs the store while no other process can write to it. `outcome` undefined: only its end was corrected. */
async function repairLocked(call: StoreCall, restored: RestoreOutcome) {
  const { store } = call
  const identity = await store.identity()
  if (identity === undefined) throw (await storeExists(store)) ? nothingLoaded(store.name) : absentStore(store.name)
  return withAuditSetup(call, async setup => {
    const { clock, node, prove } = setup.parts
    const writer = await store.takeOver(identity, { repair: true })
    let outcome: Outcome | undefined
    try {
      const parts = { store, writer, restored, clock, node, prove }
      const { aligned } = await repairStore(parts, call.signal, async () => {
        outcome = await compareStore({ store, writer }, setup)
        return outcome.audited
      })
      // Every document was checked, so all stored documents belong there.
      if (outcome !== undefined && countLeft(outcome) === 0) await writer.accept?.()
      return { aligned, outcome }
    } finally {
      await writer.release()
    }
  })
}

/** Reports a repair that corrected only the end of the store. */
function tellAligned({ values, out, store }: StoreCall, { way, end, from }: AlignResult): 0 {
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

function tellAudited({ values, out, store }: StoreCall, outcome: Outcome): 0 | 3 {
  const dryRun = values['dry-run']
  const { found, audited } = outcome
  const left = dryRun ? found.count : countLeft(outcome)
  if (values.json) out(outcomeJson(store, outcome, { dry_run: dryRun, left }))
  else {
    const would = `${found.count - found.beyondRepair} differences would be repaired, nothing was written`
    const repaired = dryRun ? would : `${found.count - left} differences were repaired, ${left} are left`
    const end = audited.complete ? repaired : 'nothing was written'
    for (const line of outcomeLines(store, outcome, found.count === 0 ? 'whole, nothing to repair' : end)) out(line)
  }
  return left === 0 ? 0 : 3
}

/** The differences left: all if the state could not be derived, otherwise those from the node, for which nothing is written. */
const countLeft = ({ audited, found }: Outcome): number => (audited.complete ? found.beyondRepair : found.count)

/** The commands that audit a store, in the order of the help. */
export const auditCommands: readonly Command[] = [verify, repair]
