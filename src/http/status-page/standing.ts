import { BEHIND } from '#actions/find/loading.ts'
import type { Text } from '#actions/text.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import type { Unfit } from '#node/chain-info.ts'
import { unfitText } from '#node/judge.ts'
import type { Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { type Freshness, freshnessOf } from '../freshness.ts'

/** What is wrong, and what the operator does about it. */
export type Trouble = { readonly what: Text; readonly help: Text }

/** How a service stands, for people and programs. null: nobody knows. */
export type Standing = {
  readonly version: string
  /** When the process began to serve, ISO-8601 UTC. */
  readonly since: string
  /** Whether the store can be read and has lost nothing that is checked while serving. */
  readonly whole: boolean
  readonly height: number | null
  readonly time: string | null
  readonly fresh: Freshness | null
  /** Blocks that were published per second, as far as they were watched; null before there was time. */
  readonly blocksPerSecond: number | null
  readonly troubles: readonly Trouble[]
}

export type StandingFrom = {
  readonly node: Pick<Node, 'heard' | 'heardAgo' | 'whyUnfit'> | undefined
  readonly version: string
  readonly clock: Pick<Clock, 'now'>
  readonly maxLagMs: number | undefined
  readonly since: number
  readonly blocksPerSecond: number | null
}

/** Blocks are irreversible, and loaded, about 40 seconds after they were made. */
const OLD_SECONDS = 300

export const standingOf = (published: Published | undefined | Failure, from: StandingFrom): Standing => {
  const { version, since, blocksPerSecond, node, clock } = from
  const common = { version, since: new Date(since).toISOString(), blocksPerSecond }
  if (published instanceof Failure)
    return {
      ...{ ...common, whole: false, height: null, time: null, fresh: null },
      troubles: [published.kind === 'damaged' ? LOST : UNREADABLE],
    }
  if (published === undefined)
    return {
      ...{ ...common, whole: true, height: null, time: null, fresh: null },
      troubles: [EMPTY, ...(node !== undefined && node.heard() === undefined ? [NODE_ALONE] : [])],
    }
  const fresh = freshnessOf(published, node, clock)
  return {
    ...common,
    whole: true,
    height: published.height,
    time: toIso(published.time),
    fresh,
    troubles: troublesOf(fresh, from.maxLagMs),
  }
}

/** What is wrong with a store that has blocks; the first is the one that says most. */
export const troublesOf = (
  { node, unfit, behind, isFarBehind, lagSeconds }: Freshness,
  maxLagMs: number | undefined,
): readonly Trouble[] => [
  ...(unfit === undefined ? [] : [unfitTrouble(unfit)]),
  ...(isFarBehind ? [FAR_BEHIND] : []),
  ...(node === 'unreachable' ? [NODE_SILENT] : []),
  ...(node === 'reachable' && behind === null ? [NODE_BEHIND] : []),
  ...(lagSeconds === null ? [CLOCK] : []),
  ...(lagSeconds !== null && lagSeconds > (maxLagMs ?? OLD_SECONDS * 1_000) / 1_000 ? [OLD] : []),
]

const unfitTrouble = (unfit: Unfit): Trouble => ({
  what: {
    en: `${unfitText(unfit, 'the node')}.`,
    zh:
      unfit.is === 'foreign'
        ? `全节点所属的链与存储中的不同：${unfit.why}。`
        : `全节点在另一条分支上：区块 ${unfit.height} 在存储中为 ${unfit.stored}，在全节点为 ${unfit.there}。`,
  },
  help: {
    en: "'iostlens doctor' names the node and what helps.",
    zh: '可运行 iostlens doctor，查看是哪个全节点以及处理办法。',
  },
})

const UNREADABLE: Trouble = {
  what: { en: 'The store cannot be read.', zh: '无法读取存储。' },
  help: {
    en: "The log gives the reason; 'iostlens doctor' checks the store.",
    zh: '日志中有原因；可运行 iostlens doctor 检查存储。',
  },
}
const LOST: Trouble = {
  what: { en: 'Part of the store is lost or damaged.', zh: '存储数据缺失或已损坏。' },
  help: {
    en: "Restore it from a backup, or run 'iostlens verify' and 'iostlens repair'.",
    zh: '请从备份恢复，或运行 iostlens verify 与 iostlens repair。',
  },
}
const EMPTY: Trouble = {
  what: { en: 'Nothing is loaded yet.', zh: '尚未加载任何数据。' },
  help: {
    en: "Load with 'iostlens load' or 'iostlens up'; the first blocks appear within seconds.",
    zh: '请用 iostlens load 或 iostlens up 加载；最初的区块数秒内即可查询。',
  },
}
const FAR_BEHIND: Trouble = {
  what: {
    en: `Loading is more than ${BEHIND} blocks behind the chain.`,
    zh: `数据加载落后链上 ${BEHIND} 个区块以上。`,
  },
  help: {
    en: 'In a first load this is normal. Otherwise see whether a loader is running, and its log.',
    zh: '首次加载时属正常现象；否则请检查加载进程是否在运行，并查看其日志。',
  },
}
const NODE_SILENT: Trouble = {
  what: {
    en: 'No node responds, so it is unknown how far loading is behind the chain.',
    zh: '没有全节点响应，因此无法得知加载落后多少。',
  },
  help: {
    en: "Check the nodes of --node with 'iostlens doctor', or set a further one.",
    zh: '请用 iostlens doctor 检查 --node 指定的全节点，或另外添加一个。',
  },
}
const NODE_ALONE: Trouble = {
  what: { en: 'No node responds, so nothing can be loaded.', zh: '没有全节点响应，因此无法加载数据。' },
  help: NODE_SILENT.help,
}
const NODE_BEHIND: Trouble = {
  what: {
    en: 'The node is behind the loaded blocks, so it is unknown how far loading is behind the chain.',
    zh: '全节点落后于已加载的区块，因此无法得知加载落后多少。',
  },
  help: {
    en: 'Wait until the node has caught up, or use another one.',
    zh: '请等待全节点追上，或改用其他全节点。',
  },
}
const CLOCK: Trouble = {
  what: {
    en: "The machine's clock is before the last loaded block, so the age of that block is unknown.",
    zh: '本机时钟早于最后加载的区块，因此无法得知该区块的时间差。',
  },
  help: { en: 'Set the clock of the machine (NTP).', zh: '请校准本机时钟（NTP）。' },
}
const OLD: Trouble = {
  what: { en: 'The last loaded block is old.', zh: '最后加载的区块已较旧。' },
  help: {
    en: 'Either the loader is not running, or its node stands still: compare the heights above with another node.',
    zh: '可能是加载进程未运行，或其全节点已停滞：请将上方高度与其他全节点比较。',
  },
}
