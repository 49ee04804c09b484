import { join } from 'node:path'
import { type Audited, audit } from '#audit/audit.ts'
import { type Findings, findings, findingText } from '#audit/finding.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import type { Store, Writer } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { openScratchFolder } from '#store/sqlite/scratch-folder.ts'
import { auditProgress } from './audit-progress.ts'
import type { Call } from './command.ts'
import { connectNode } from './compose.ts'
import { provedJson, provedLines } from './proved-text.ts'

export type Outcome = { readonly audited: Audited; readonly found: Findings }

/** Audits a store as the settings say; `writer` puts right what differs. */
export const auditStore = async (
  { values, screen, log, signal }: Call,
  store: Store,
  writer?: Writer,
): Promise<Outcome> => {
  const found = findings()
  const node = connectNode(values, log)
  // In the data folder: what is derived anew may be more than fits where temporary files are kept.
  const folder = openScratchFolder(values.data, 'audit-')
  const scratch = openSqlite({ path: join(folder.path, 'scratch.sqlite') })
  try {
    const audited = await audit(
      {
        store,
        scratch,
        ...(node === undefined ? {} : { node }),
        ...(writer === undefined ? {} : { writer }),
      },
      {
        sample: values.sample,
        signal,
        onFinding: found.add,
        onLooked: auditProgress({ screen, log, now: () => performance.now() }),
      },
    )
    return { audited, found }
  } catch (error) {
    if (signal.aborted) throw new Failure('deadline', 'Stopped before everything was checked.')
    throw error
  } finally {
    screen.bar('')
    node?.close()
    await scratch.close()
    folder.close()
  }
}

/** One line for each thing found, then how many there are of each kind; `end` sums up. */
export const outcomeLines = (store: Store, { audited, found }: Outcome, end: string): readonly string[] => [
  ...found.shown.map(findingText),
  ...[...found.totals].map(([kind, count]) => `${kind}: ${count} in all`),
  ...audited.notes,
  ...provedLines(audited.at).map(line => `proved when loaded: ${line}`),
  `${store.name} at block ${audited.at.height}, ${toIso(audited.at.time)}: ${end}`,
]

/** The same as one JSON object. */
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
