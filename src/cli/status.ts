import { type Continuity, checkContinuity } from '#audit/source.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { catchKinds } from '#failure/failure.ts'
import { type Freshness, findLoadTroubles, measureFreshness } from '#http/health.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { unfitHelp, unfitText } from '#node/pool.ts'
import { absentStore, MEND } from '#store/failures.ts'
import type { Published, Store } from '#store/port.ts'
import { createHashSource, storeExists } from '#store/servable.ts'
import { systemClock } from '#time/clock.ts'
import { provedJson, provedLines } from './auditing.ts'
import { alignColumns, type Command, type CommandCall, type ExitCode } from './command.ts'
import { connectNode, defineStoreRun, requireUsable, type StoreCall } from './compose.ts'
import { LOGGING, NODE, STORE } from './settings.ts'

export const status: Command = {
  name: 'status',
  summary: 'report the loaded height, the distance to the node, and any damage',
  about: [
    'Prints the last loaded block, how far it is behind the node, and whether the store is consistent: blocks follow each other by number and parent hash and have all their transactions. Also prints how far each range of blocks was proved when it was loaded (see --prove).',
    "The first block, the last block and a sample of the others are checked; --all checks every block. With --node, the node's chain and its block at the last height that both have are compared with the stored ones.",
    'Ends with exit code 3 if a check fails, with 75 if nothing is loaded yet or no node responds, and with 2 if there is no store.',
  ],
  settings: [...NODE, ...STORE, 'all', 'json', ...LOGGING],
  examples: ['iostlens status', 'iostlens status --all --node http://127.0.0.1:30001'],
  run: defineStoreRun(reportStatus),
}

async function reportStatus({ values, log, out, screen, signal, store }: StoreCall): Promise<ExitCode> {
  await requireUsable(store)
  if ((await store.published()) === undefined) {
    if (!(await storeExists(store))) throw absentStore(store.name)
    const { name } = store
    const rows = [
      ['store', name],
      ['height', 'nothing is loaded yet'],
    ] as const
    for (const line of values.json ? [writeJson({ store: name, height: null })] : alignColumns(rows)) out(line)
    return 75
  }
  const lost = (await store.check()).filter(({ problem }) => problem === 'lost').map(({ detail }) => detail)
  const { published, held } = await readCounters(store, lost.length > 0, signal)
  const fresh = await readFreshness({ values, log, signal }, store, published)
  const found = await checkContinuity(store, {
    published,
    all: values.all,
    signal,
    onProgress: looked => screen.bar(`Checking blocks: ${looked.blocks} of ${looked.of}`),
  }).finally(() => screen.bar(''))
  const problems = listProblems({ published, fresh, found, held }, lost)
  const state: State = { store: store.name, published, fresh, found, held, problems }
  if (values.json) out(writeJson(toStoreStatusJson(state)))
  else for (const line of alignColumns(listStatusRows(state))) out(line)
  if (problems.length > 0) return 3
  return fresh.node === 'unreachable' ? 75 : 0
}

/** End and counters of one height, even while a loader runs. In a store that has lost parts, the counters may be lost, too. */
function readCounters(store: Store, isLost: boolean, signal: AbortSignal) {
  return store.read(
    async view => {
      const counters = view.get(statistics, STATISTICS)
      return { published: view.at, held: await (isLost ? catchKinds(['unavailable'], counters) : counters) }
    },
    { signal, damaged: true },
  )
}

type State = {
  readonly store: string
  readonly published: Published
  readonly fresh: Freshness
  readonly found: Continuity
  readonly held: StatisticsDoc | undefined
  readonly problems: readonly string[]
}

const listStatusRows = ({ store, published, fresh, found, held, problems }: State): readonly (readonly string[])[] => [
  ['store', store],
  ['height', `${published.height}, ${published.hash}, ${toIso(published.time)}`],
  ['behind', formatDistance(published, fresh)],
  [
    'stored',
    held === undefined
      ? 'no counters'
      : Object.entries(countHeld(held))
          .map(([name, count]) => `${count} ${name}`)
          .join(', '),
  ],
  ...provedLines(published).map((line, at) => [at === 0 ? 'proved' : '', line]),
  ['checked', `${found.blocks} of ${published.height + 1} blocks, ${found.transactions} transactions`],
  ['whole', problems.length === 0 ? 'yes' : 'NO'],
  ...problems.map(problem => ['', problem]),
  ...(problems.length === 0 ? [] : [['remedy', MEND]]),
]

const toStoreStatusJson = ({ store, published, fresh, found, held, problems }: State) => ({
  store,
  height: published.height,
  hash: published.hash,
  time: toIso(published.time),
  behind: fresh.node === 'none' ? countDistance(published) : fresh.behind,
  lib: fresh.lib,
  holds: held === undefined ? null : countHeld(held),
  proved: provedJson(published),
  looked: { blocks: found.blocks, transactions: found.transactions },
  whole: problems.length === 0,
  problems,
})

/** Milliseconds between two looks at the results of probes. */
const PROBED_MS = 100

/** What a service with these settings reports once a node answers, or has had the time of --node-timeout for it. */
async function readFreshness(
  { values, log, signal }: Pick<CommandCall, 'values' | 'log' | 'signal'>,
  store: Store,
  published: Published,
): Promise<Freshness> {
  // The report tells all but the reason for which a node gives no usable answer.
  using node = connectNode(values, (level, ...line) => {
    if (level === 'warn') log(level, ...line)
  })
  const until = systemClock.elapsed() + values['node-timeout']
  await node?.watch(() => store.identity(), createHashSource(store, signal))
  let fresh = measureFreshness(published, node, systemClock)
  // A busy node or machine may miss the first probe.
  while (fresh.node === 'unreachable' && systemClock.elapsed() < until && !signal.aborted) {
    await systemClock.sleep(PROBED_MS, signal)
    fresh = measureFreshness(published, node, systemClock)
  }
  return fresh
}

/** Everything that is wrong with the store and the node. */
function listProblems(
  { published, fresh: { unfit }, found, held }: Omit<State, 'store' | 'problems'>,
  lost: readonly string[],
): readonly string[] {
  const counted = held?.transaction_count
  const isMissing = counted === undefined && lost.length === 0
  const isWhole = found.blocks === published.height + 1
  return [
    ...(unfit === undefined ? [] : [`${unfitText(unfit, unfit.node)}. ${unfitHelp(unfit, unfit.node)}`]),
    ...found.problems,
    ...(isMissing ? ['the counters are missing'] : []),
    // If every block was checked, their number must equal the count kept while loading.
    ...(counted === undefined || !isWhole || found.transactions === counted
      ? []
      : [`${found.transactions} transactions are stored, ${counted} were counted`]),
    ...lost,
  ]
}

function countDistance({ height, lib }: Published): number {
  return Math.max(0, lib - height)
}

function formatDistance(published: Published, fresh: Freshness): string {
  if (fresh.node === 'none') return `${countDistance(published)} blocks, as last reported to the loader`
  const { behind, lib, unfit } = fresh
  if (unfit !== undefined) return 'unknown: the node is not on the stored chain'
  if (behind !== null) return `${behind} blocks; the last irreversible block is ${lib}`
  return findLoadTroubles(fresh).at(-1)?.what.en ?? 'unknown'
}

function countHeld(held: StatisticsDoc) {
  return {
    transactions: held.transaction_count,
    records: held.record_count,
    accounts: held.account_count,
    contracts: held.contract_count,
    tokens: held.token_count,
  }
}
