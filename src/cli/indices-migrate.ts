import { join } from 'node:path'
import { findings, findingText } from '#audit/finding.ts'
import { Failure } from '#failure/failure.ts'
import { migrateByDeriving } from '#migrate/derive.ts'
import type { CopyProgress } from '#store/migrating-port.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { openScratchFolder } from '#store/sqlite/scratch-folder.ts'
import { auditProgress } from './audit-progress.ts'
import type { Call, Command } from './command.ts'
import { connectNode, openStore } from './compose.ts'
import { progressView } from './progress.ts'
import { LOADING, LOGGING, NODE, STORE } from './setting-groups.ts'

export const indicesMigrate: Command = {
  name: 'indices migrate',
  words: [],
  summary: 'bring a store that another version made to this one, while it is served',
  about:
    "Builds new indices beside those that are served, verifies them and swaps all aliases at one moment; until then, and whenever it is stopped or killed, what is served stays as it was. There must be room for both. Where only mappings differ, the changed indices are copied and every document is compared; a loader must be stopped first, and none can start meanwhile. Where documents differ, all are derived anew, from the stored blocks or from --node, and audited as 'iostlens verify' does; a loader may go on until that is done and must then be stopped. Running it again goes on: copies that were compared are kept while nothing was written to their source, what was derived is continued. Services that run go on meanwhile; those of this version change over by themselves, those of another one stay at the last height they could read until they are started anew. API keys are kept. The replaced indices stay, for those services, until it is run (again) with --delete-old. The embedded store is always derived anew, into a file beside it, and replaced in one transaction; keep a copy of the file for a way back. With --dry-run it only tells what would be done, with code 3 when that is anything.",
  settings: [...NODE, ...STORE, ...LOADING, 'sample', 'dry-run', 'delete-old', ...LOGGING],
  examples: [
    'iostlens indices migrate --dry-run --store http://127.0.0.1:9200/iostlens',
    'iostlens indices migrate --store http://127.0.0.1:9200/iostlens',
    'iostlens indices migrate --delete-old --store http://127.0.0.1:9200/iostlens',
  ],
  run: async call => {
    const { values, log, out, screen, signal } = call
    const store = openStore(values, log)
    try {
      const plan = await store.migrating.plan()
      for (const reason of plan.reasons) out(reason)
      if (values['dry-run']) return told(call, plan)
      if (plan.way === 'none') {
        await store.migrating.settle()
        out(`${store.name} is as this version makes it.`)
      } else {
        if (plan.way === 'copy') await copied(call, store)
        else if (!(await derived(call, store))) return 3
        out(`${store.name} is served from what was built.`)
      }
      await removed(call, store)
      return 0
    } catch (error) {
      if (signal.aborted)
        throw new Failure('deadline', `Stopped before its end; ${store.name} is served as it was.`, {
          help: 'Run it again to go on.',
        })
      throw error
    } finally {
      screen.bar('')
      await store.close()
    }
  },
}

const WAYS = {
  none: 'Nothing would be done.',
  copy: 'The indices above would be copied, compared and replaced.',
  derive: 'Everything would be derived anew, audited and replaced.',
} as const

const told = (
  { out, values }: Call,
  { way, leftovers }: Awaited<ReturnType<Store['migrating']['plan']>>,
): 0 | 3 => {
  for (const name of leftovers) out(`${name}: nobody is served from it`)
  out(WAYS[way])
  return way === 'none' && (leftovers.length === 0 || !values['delete-old']) ? 0 : 3
}

/** Without a terminal: one line in this time. */
const INTERVAL_MS = 10_000

const copied = async ({ out, screen, log, signal }: Call, store: Store): Promise<void> => {
  let lastLine = performance.now()
  const onProgress = ({ name, state, documents, at, of }: CopyProgress): void => {
    const place = `${at} of ${of}`
    if (state === 'kept') out(`${name}: was copied before, ${place}`)
    else if (state === 'copied') out(`${name}: ${documents} documents copied and compared, ${place}`)
    else if (screen.isTerminal) screen.bar(`${state} ${name}: ${documents}  ${place}`)
    else if (performance.now() - lastLine >= INTERVAL_MS) {
      lastLine = performance.now()
      log('info', 'Copied indices.', { name, state, documents, at, of })
    }
  }
  await store.migrating.copy({ signal, onProgress })
}

/** Whether what was derived is whole and is served now. */
const derived = async (call: Call, store: Store): Promise<boolean> => {
  const { values, screen, log, out, signal } = call
  const now = () => performance.now()
  const node = connectNode(values, log)
  const folder = openScratchFolder(values.data, 'audit-')
  const scratch = openSqlite({ path: join(folder.path, 'scratch.sqlite') })
  const found = findings()
  const view = progressView({ screen, log, now, from: -1 })
  try {
    return await migrateByDeriving(
      { store, scratch, ...(node === undefined ? {} : { node }) },
      {
        load: { signal, log, onProgress: view.update },
        audit: {
          sample: values.sample,
          signal,
          onFinding: found.add,
          onLooked: auditProgress({ screen, log, now }),
        },
        isWhole: ({ at, complete, notes }) => {
          screen.bar('')
          for (const line of [...found.shown.map(findingText), ...notes]) out(line)
          const whole = complete && found.count === 0
          out(
            whole
              ? `What was derived is whole at block ${at.height}.`
              : `What was derived is NOT WHOLE, ${found.count} differences; ${store.name} is served as it was.`,
          )
          return whole
        },
      },
    )
  } finally {
    node?.close()
    await scratch.close()
    folder.close()
  }
}

/** With --delete-old removes what nobody is served from, else says how. */
const removed = async ({ values, out }: Call, store: Store): Promise<void> => {
  if (values['delete-old']) {
    for (const name of await store.migrating.removeLeftovers()) out(`${name}: removed`)
    return
  }
  const { leftovers } = await store.migrating.plan()
  if (leftovers.length === 0) return
  out(`${leftovers.length} indices are left that nobody is served from, such as ${leftovers[0]}.`)
  out("Once no service of the earlier version runs: 'iostlens indices migrate --delete-old' removes them.")
}
