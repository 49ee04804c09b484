import { findingText } from '#audit/compare.ts'
import { migrateByDeriving } from '#audit/migrate.ts'
import { Failure } from '#failure/failure.ts'
import { listWantedIndices } from '#store/elastic/schema/mappings.ts'
import { createNames } from '#store/elastic/schema/names.ts'
import { schema } from '#store/sqlite/tables.ts'
import { withAuditSetup } from './auditing.ts'
import type { Command, ExitCode } from './command.ts'
import { defineStoreRun, getStoreAddress, requireExisting, type StoreCall } from './compose.ts'
import { progressView } from './progress.ts'
import { LOADING, LOGGING, NODE, STORE } from './settings.ts'
import { withBar } from './stop.ts'

const indicesCreate: Command = {
  name: 'indices create',
  summary: 'create the indices or tables that are missing; safe to repeat',
  about: [
    'Creates the indices (Elasticsearch) or tables (embedded store) that are missing. Existing ones are never changed: if one has a different mapping, the command ends with exit code 3.',
    "'iostlens load' does this by itself. It also creates further partitions of history (records-000001 and so on) when it needs them.",
  ],
  settings: [...STORE, 'replicas', ...LOGGING],
  examples: ['iostlens indices create --store http://127.0.0.1:9200/iostlens'],
  run: defineStoreRun(async ({ out, store }) => {
    await store.create()
    out(`All indices of ${store.name} exist.`)
    return 0
  }),
}

const indicesCheck: Command = {
  name: 'indices check',
  summary: 'compare the store with this version; exit code 3 if anything differs',
  about: [
    'Compares the indices (or tables) of the store with those of this version and prints one line for each that is missing or different. Changes nothing.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices check', 'iostlens indices check --store http://127.0.0.1:9200/iostlens'],
  run: defineStoreRun(async ({ out, store }) => {
    const differences = await store.check()
    for (const { name, problem, detail } of differences) out(`${name}: ${problem}: ${detail}`)
    for (const help of new Set(differences.map(({ help }) => help))) if (help !== undefined) out(help)
    if (differences.length > 0) return 3
    out(`All indices of ${store.name} match this version.`)
    return 0
  }),
}

const indicesPrint: Command = {
  name: 'indices print',
  summary: 'print the mappings or tables of this version',
  about: [
    "Prints what 'iostlens indices create' would create: for Elasticsearch, JSON of index names with settings and mappings; for the embedded store, SQL. Does not connect to the store.",
    'Of the partitions of history, only the first is printed; the others (-000001 and so on) are the same.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices print --store http://127.0.0.1:9200/iostlens'],
  run: async ({ values, out }) => {
    const address = getStoreAddress(values)
    if (address.type === 'sqlite') for (const { sql } of schema) out(`${sql};`)
    else {
      const indices = listWantedIndices(createNames(address.prefix)).map(
        ({ name, alias, into, shape }) => [name, { aliases: { [alias]: {}, [into]: {} }, ...shape }] as const,
      )
      out(JSON.stringify(Object.fromEntries(indices), null, 2))
    }
    return 0
  },
}

const indicesMerge: Command = {
  name: 'indices merge',
  summary: 'merge finished partitions of history and make them read-only; safe to repeat',
  about: [
    'History in Elasticsearch is split into partitions; all but the last are finished. This command merges each index of a finished partition into one segment, so that it takes less space and reads faster, and makes it read-only. Indices that are merged already are skipped.',
    'The store may be loaded and served meanwhile. The command may be stopped and run again at any time. The embedded store has nothing to merge.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens indices merge --store http://127.0.0.1:9200/iostlens'],
  run: defineStoreRun(async ({ out, screen, signal, store }) => {
    await requireExisting(store)
    const { name: stored, partitions } = store
    if (partitions === undefined) {
      out(`${stored} keeps its history in one piece; there is nothing to merge.`)
      return 0
    }
    const count = { merging: 0, merged: 0, skipped: 0 }
    try {
      await partitions.merge({
        signal,
        onProgress: ({ name, state, at, of }) => {
          count[state]++
          screen.bar(state === 'merging' ? `merging ${name}  ${at} of ${of}` : '')
          if (state === 'merged') out(`${name}: merged, ${at} of ${of}`)
        },
      })
      out(
        count.merged + count.skipped === 0
          ? `${stored} has no finished partition yet.`
          : `Finished partitions of ${stored}: ${count.merged} indices merged, ${count.skipped} were merged before.`,
      )
      return 0
    } catch (error) {
      if (!signal.aborted) throw error
      out('Stopped before all indices were merged; run it again to continue.')
      return 75
    } finally {
      screen.bar('')
    }
  }),
}

const indicesMigrate: Command = {
  name: 'indices migrate',
  summary: 'bring a store of another version up to this one while it is served',
  about: [
    'Brings a store that another version made up to this version. It builds new indices beside the old ones, verifies them, and then swaps all aliases at once. Until then the old data is served, even if the command is stopped or killed; run it again to continue. There must be disk space for both.',
    "All documents are derived again, from the stored blocks or from --node, and audited as with 'iostlens verify'. A loader may run until that is done and must then be stopped.",
    'Running services of this version switch to the new indices by themselves. Services of another version answer until the swap, and then refuse every request with 503 until they are restarted with this version. API keys are kept.',
    "The old indices remain for 'iostlens indices rollback'. Run the command with --delete-old to delete them.",
    'The embedded store is derived into a file beside it and replaced in one transaction. Keep a copy of the file if you may want to go back.',
    '--dry-run only prints what would be done, and ends with exit code 3 if there is anything to do.',
  ],
  settings: [...NODE, ...STORE, ...LOADING, 'sample', 'dry-run', 'delete-old', ...LOGGING],
  examples: [
    'iostlens indices migrate --dry-run --store http://127.0.0.1:9200/iostlens',
    'iostlens indices migrate --store http://127.0.0.1:9200/iostlens',
    'iostlens indices migrate --delete-old --store http://127.0.0.1:9200/iostlens',
  ],
  run: defineStoreRun(call => {
    const message = `Stopped before the migration was complete; ${call.store.name} still serves the old data.`
    const stopped = new Failure('deadline', message, { help: 'Run it again to continue.' })
    return withBar(call, stopped, () => migrate(call))
  }),
}

/** Plans, migrates and removes replaced indices, as far as the settings ask for it. */
async function migrate(call: StoreCall): Promise<ExitCode> {
  const { values, out, store } = call
  const { way, reasons, leftovers } = await store.migrating.plan()
  for (const reason of reasons) out(reason)
  if (values['dry-run']) {
    for (const name of leftovers) out(`${name}: replaced, no longer served`)
    out(way === 'none' ? 'There is nothing to do.' : 'Everything would be derived again, audited and replaced.')
    return way === 'none' && (leftovers.length === 0 || !values['delete-old']) ? 0 : 3
  }
  if (way === 'none') {
    await store.migrating.reopen?.()
    out(`${store.name} matches this version; there is nothing to migrate.`)
  } else {
    if (!(await deriveAgain(call))) return 3
    out(`${store.name} now serves the new data.`)
  }
  await handleLeftovers(call)
  return 0
}

/** Derives the new data; true when it is whole and now served. */
async function deriveAgain(call: StoreCall): Promise<boolean> {
  const { screen, log, out, signal, store } = call
  const view = progressView({ screen, log, from: -1 })
  return withAuditSetup(call, ({ parts, options, found }) =>
    migrateByDeriving(
      { store, ...parts },
      {
        load: { signal, log, onProgress: view.update },
        audit: options,
        isWhole: ({ at, complete, notes }) => {
          screen.bar('')
          for (const line of [...found.shown.map(findingText), ...notes]) out(line)
          const whole = complete && found.count === 0
          out(
            whole
              ? `The new data is whole at block ${at.height}.`
              : `The new data is NOT WHOLE, ${found.count} differences; ${store.name} still serves the old data.`,
          )
          return whole
        },
      },
    ),
  )
}

/** Deletes the indices that no service reads any longer with --delete-old; otherwise prints how to delete them. */
async function handleLeftovers({ values, out, store }: StoreCall): Promise<void> {
  if (values['delete-old']) {
    for (const name of await store.migrating.removeLeftovers()) out(`${name}: deleted`)
    return
  }
  const { leftovers } = await store.migrating.plan()
  if (leftovers.length === 0) return
  out(`${leftovers.length} replaced indices are left that are no longer served, such as ${leftovers[0]}.`)
  out("Once you will not go back to them, delete them with 'iostlens indices migrate --delete-old'.")
}

const indicesRollback: Command = {
  name: 'indices rollback',
  summary: 'serve the indices again that the last migration replaced',
  about: [
    "Points an Elasticsearch store back to the indices that 'iostlens indices migrate' replaced, as long as --delete-old has not deleted them. They have the blocks of then; the version that made them serves them and loads on from there. API keys stay as they are now.",
    'Stop the loader first. The newer indices remain, no longer served, until the next migration replaces them. May be repeated if it was interrupted.',
    'An embedded store keeps no former data: restore the copy that you took before the migration.',
  ],
  settings: [...STORE, 'lease', ...LOGGING],
  examples: ['iostlens indices rollback --store http://127.0.0.1:9200/iostlens'],
  run: defineStoreRun(async ({ out, store }) => {
    const { rollBack } = store.migrating
    if (rollBack === undefined)
      throw new Failure('usage', `${store.name} keeps no data of before its migration.`, {
        help: "Restore a copy of the file: 'iostlens restore'.",
      })
    out(`${store.name} serves the replaced data again, up to block ${await rollBack()}.`)
    return 0
  }),
}

/** The commands of indices, in the order of the help. */
export const indexCommands: readonly Command[] = [
  indicesCreate,
  indicesCheck,
  indicesPrint,
  indicesMerge,
  indicesMigrate,
  indicesRollback,
]
