import { join } from 'node:path'
import { type AuditOptions, type AuditParts, type AuditResult, audit } from '#audit/audit.ts'
import { type Findings, findings, findingText } from '#audit/compare.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import type { Published, Store, Writer } from '#store/port.ts'
import { NOTHING_PROVED, type ProvedRange, trimProofs } from '#store/published.ts'
import { openScratchFolder } from '#store/sqlite/lock.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import type { CommandCall } from './command.ts'
import { connectNode } from './compose.ts'
import { stageProgress } from './progress.ts'

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

/** The same information as JSON values. */
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
  const found = findings()
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
    return await work({
      parts: {
        scratch,
        clock: systemClock,
        ...(node === undefined ? {} : { node }),
        ...(values.prove === undefined ? {} : { prove: values.prove }),
      },
      options,
      found,
    })
  } finally {
    screen.bar('')
    node?.close()
    await scratch.close()
    folder.close()
  }
}

export type Outcome = { readonly audited: AuditResult; readonly found: Findings }

/** Audits a store by the settings; with `writer`, differences are corrected. */
export const auditStore = async (call: CommandCall, store: Store, writer?: Writer): Promise<Outcome> =>
  withAuditSetup(call, async ({ parts, options, found }) => {
    try {
      const writing = writer === undefined ? {} : { writer }
      return { audited: await audit({ store, ...parts, ...writing }, options), found }
    } catch (error) {
      if (call.signal.aborted) throw new Failure('deadline', 'Stopped before everything was checked.')
      throw error
    }
  })

/** A line for each finding shown, then the total of each kind, then `end` as the summary. */
export const outcomeLines = (store: Store, { audited, found }: Outcome, end: string): readonly string[] => [
  ...found.shown.map(findingText),
  ...[...found.totals].map(([kind, count]) => `${kind}: ${count} in all`),
  ...audited.notes,
  ...provedLines(audited.at).map(line => `proved when loaded: ${line}`),
  `${store.name} at block ${audited.at.height}, ${toIso(audited.at.time)}: ${end}`,
]

/** The same outcome as one JSON object. */
export const outcomeJson = (store: Store, { audited, found }: Outcome, more: object): string =>
  writeJson({
    store: store.name,
    height: audited.at.height,
    hash: audited.at.hash,
    complete: audited.complete,
    whole: audited.complete && found.count === 0,
    count: found.count,
    totals: new Map(found.totals),
    findings: found.shown,
    notes: audited.notes,
    proved: provedJson(audited.at),
    ...more,
  })
