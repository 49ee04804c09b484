import { type Continuity, continuity } from '#audit/continuity.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { unless } from '#failure/unless.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { judge, lacksText, unfitHelp, unfitText } from '#node/judge.ts'
import type { Node } from '#node/port.ts'
import { absentStore, exists } from '#store/absent-store.ts'
import { MEND } from '#store/missing-data.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Published, Store } from '#store/port.ts'
import { storedBlocks } from '#store/stored-blocks.ts'
import { aligned } from './aligned.ts'
import type { Command } from './command.ts'
import { connectNode, requireUsable, withStore } from './compose.ts'
import { provedJson, provedLines } from './proved-text.ts'
import { LOGGING, NODE, STORE } from './settings.ts'

export const status: Command = {
  name: 'status',
  summary: 'report the loaded height, the distance to the node, and any damage',
  about: [
    'Prints the last loaded block, how far it is behind the node, and whether the store is consistent: blocks follow each other by number and parent hash and have all their transactions. Also prints how far each range of blocks was proved when it was loaded (see --prove).',
    "The first block, the last block and a sample of the others are checked; --all checks every block. With --node, the node's chain and its block at the last height that both have are compared with the stored ones.",
    'Ends with exit code 3 if a check fails, with 75 if nothing is loaded yet, and with 2 if there is no store.',
  ],
  settings: [...NODE, ...STORE, 'all', 'json', ...LOGGING],
  examples: ['iostlens status', 'iostlens status --all --node http://127.0.0.1:30001'],
  run: ({ values, log, out, screen, signal }) =>
    withStore(values, log, async store => {
      const node = connectNode(values, log)
      try {
        await requireUsable(store)
        if ((await requirePublished(store)) === undefined) {
          for (const line of emptyLines(store.name, values.json)) out(line)
          return 75
        }
        const lost = (await store.check()).filter(({ problem }) => problem === 'lost').map(({ detail }) => detail)
        const isLost = lost.length > 0
        const { published, held } = await readCounters(store, isLost, signal)
        const position = await readNodePosition(node, { store, published }, signal)
        const found = await continuity(store, {
          published,
          all: values.all,
          signal,
          onProgress: looked => screen.bar(`Checking blocks: ${looked.blocks} of ${looked.of}`),
        })
        screen.bar('')
        const counted = countProblems(found, published, { held, isLost })
        const problems = [...position.problems, ...found.problems, ...counted, ...lost]
        const state: State = { store: store.name, published, position, found, held, problems }
        if (values.json) out(writeJson(toStoreStatusJson(state)))
        else for (const line of aligned(listStatusRows(state))) out(line)
        return problems.length === 0 ? 0 : 3
      } finally {
        screen.bar('')
        node?.close()
      }
    }),
}

/** End and counters of one height, even while a loader runs. In a store that has lost parts, the counters may be lost, too. */
function readCounters(store: Store, isLost: boolean, signal: AbortSignal) {
  return store.read(
    async view => {
      const counters = view.get(statistics, STATISTICS)
      return { published: view.at, held: await (isLost ? unless(['unavailable'], counters) : counters) }
    },
    { signal, damaged: true },
  )
}

/** undefined: the store is empty. Throws when there is none. */
async function requirePublished(store: Store): Promise<Published | undefined> {
  const published = await store.published()
  if (published === undefined && !(await exists(store))) throw absentStore(store.name)
  return published
}

const emptyLines = (store: string, json: boolean): readonly string[] =>
  json
    ? [writeJson({ store, height: null })]
    : aligned([
        ['store', store],
        ['height', 'nothing is loaded yet'],
      ])

type State = {
  readonly store: string
  readonly published: Published
  readonly position: Position
  readonly found: Continuity
  readonly held: StatisticsDoc | undefined
  readonly problems: readonly string[]
}

const listStatusRows = ({
  store,
  published,
  position,
  found,
  held,
  problems,
}: State): readonly (readonly string[])[] => [
  ['store', store],
  ['height', `${published.height}, ${published.hash}, ${toIso(published.time)}`],
  ['behind', position.text],
  ['stored', held === undefined ? 'no counters' : heldText(held)],
  ...provedLines(published).map((line, at) => [at === 0 ? 'proved' : '', line]),
  ['checked', `${found.blocks} of ${published.height + 1} blocks, ${found.transactions} transactions`],
  ['whole', problems.length === 0 ? 'yes' : 'NO'],
  ...problems.map(problem => ['', problem]),
  ...(problems.length === 0 ? [] : [['remedy', MEND]]),
]

const toStoreStatusJson = ({ store, published, position, found, held, problems }: State) => ({
  store,
  height: published.height,
  hash: published.hash,
  time: toIso(published.time),
  behind: position.behind,
  lib: position.lib,
  holds:
    held === undefined
      ? null
      : {
          transactions: held.transaction_count,
          records: held.record_count,
          accounts: held.account_count,
          contracts: held.contract_count,
          tokens: held.token_count,
        },
  proved: provedJson(published),
  looked: { blocks: found.blocks, transactions: found.transactions },
  whole: problems.length === 0,
  problems,
})

/**
 * The distance from the store to the end of the chain. `lib` is the last irreversible block, as reported by
 * the node or as last stored.
 */
type Position = {
  readonly text: string
  readonly lib: number
  /** null: the node does not fit the stored data. */
  readonly behind: number | null
  readonly problems: readonly string[]
}

async function readNodePosition(
  node: Node | undefined,
  { store, published }: { readonly store: Store; readonly published: Published },
  signal: AbortSignal,
): Promise<Position> {
  const { height, lib } = published
  const heard = Math.max(0, lib - height)
  if (node === undefined)
    return { text: `${heard} blocks, as last reported to the loader`, lib, behind: heard, problems: [] }
  const { chainId, libBlock } = await node.chainInfo(signal)
  const identity = await store.identity()
  if (identity === undefined) throw nothingLoaded(store.name)
  const verdict = await judge(
    { chainId, libBlock, blockHash: at => node.blockHash(at, signal) },
    { identity, last: published, hashAt: storedBlocks(store, signal).hashAt },
  )
  const behind = Math.max(0, libBlock - height)
  switch (verdict.is) {
    case 'fit':
      return {
        text: `${behind} blocks; the node's last irreversible block is ${libBlock}`,
        ...{ lib: libBlock, behind, problems: [] },
      }
    case 'behind':
      return {
        text: `the node is behind, its last irreversible block is ${libBlock}`,
        ...{ lib: libBlock, behind, problems: [] },
      }
    case 'lacks':
      return { text: UNKNOWN, lib, behind: null, problems: [lacksText(verdict, node.name)] }
    default:
      // The node's heights are those of another chain.
      return {
        text: UNKNOWN,
        ...{ lib, behind: null },
        problems: [`${unfitText(verdict, node.name)}. ${unfitHelp(verdict, node.name)}`],
      }
  }
}

const UNKNOWN = 'unknown: the node is not on the stored chain'

/** If every block was checked, the number of transactions must equal the count kept while loading. */
function countProblems(
  found: Continuity,
  { height }: Published,
  { held, isLost }: { readonly held: StatisticsDoc | undefined; readonly isLost: boolean },
): readonly string[] {
  if (held === undefined) return isLost ? [] : ['the counters are missing']
  if (found.blocks !== height + 1 || found.transactions === held.transaction_count) return []
  return [`${found.transactions} transactions are stored, ${held.transaction_count} were counted`]
}

const heldText = (held: StatisticsDoc): string =>
  [
    `${held.transaction_count} transactions`,
    `${held.record_count} records`,
    `${held.account_count} accounts`,
    `${held.contract_count} contracts`,
    `${held.token_count} tokens`,
  ].join(', ')
