import { BEHIND } from '#actions/find/loading.ts'
import type { Text } from '#actions/text.ts'
import type { Failure } from '#failure/failure.ts'
import type { Unfit } from '#node/chain-info.ts'
import { unfitText } from '#node/judge.ts'
import { AbsentStore } from '#store/absent-store.ts'
import { OtherVersion } from '#store/other-version.ts'
import type { Freshness, Health } from './health.ts'

/** A fault, and its remedy for the operator. */
export type Trouble = { readonly what: Text; readonly help: Text }

/** Age of a stale block, milliseconds. Blocks are irreversible, and loaded, about 40 seconds after they were made. */
const OLD_MS = 300_000

/** The faults of a service, most important first. */
export function findTroubles(
  { failure, fresh, isDamageMet, isNodeSilent }: Omit<Health, 'published'>,
  maxLagMs = OLD_MS,
): readonly Trouble[] {
  if (failure !== undefined) return [describeFailure(failure)]
  if (fresh === undefined) return [EMPTY, ...(isNodeSilent ? [NODE_ALONE] : [])]
  return [
    ...(isDamageMet ? [LOST] : []),
    ...findLoadTroubles(fresh),
    ...(fresh.lagSeconds === null ? [CLOCK] : []),
    ...(fresh.lagSeconds !== null && fresh.lagSeconds * 1_000 > maxLagMs ? [OLD] : []),
  ]
}

/** The fault of a store that cannot be served from. */
function describeFailure(failure: Failure): Trouble {
  if (failure instanceof AbsentStore) return ABSENT
  if (failure instanceof OtherVersion) return OTHER
  return failure.kind === 'damaged' ? LOST : UNREADABLE
}

/** Faults of the node and of loading, most important first. */
export function findLoadTroubles({ node, unfit, behind, isFarBehind }: Freshness): readonly Trouble[] {
  return [
    ...(unfit === undefined ? [] : [describeUnfit(unfit)]),
    ...(isFarBehind ? [FAR_BEHIND] : []),
    ...(node === 'unreachable' ? [NODE_SILENT] : []),
    ...(node === 'reachable' && behind === null ? [NODE_BEHIND] : []),
  ]
}

const describeUnfit = (unfit: Unfit): Trouble =>
  trouble(
    `${unfitText(unfit, 'the node')}.`,
    unfit.is === 'foreign'
      ? `全节点所属的链与存储中的不同：${unfit.why}。`
      : `全节点在另一条分支上：区块 ${unfit.height} 在存储中为 ${unfit.stored}，在全节点上为 ${unfit.there}。`,
    ["'iostlens doctor' names the node and the remedy.", '可运行 iostlens doctor，查看是哪个全节点以及处理办法。'],
  )

/** A fault and its remedy, each in English and Chinese. */
const trouble = (en: string, zh: string, [helpEn, helpZh]: readonly [string, string]): Trouble => ({
  what: { en, zh },
  help: { en: helpEn, zh: helpZh },
})

const CHECK_NODES = [
  "Check the nodes of --node with 'iostlens doctor', or set a further one.",
  '请用 iostlens doctor 检查 --node 指定的全节点，或另外添加一个。',
] as const
const UNREADABLE = trouble('The store cannot be read.', '无法读取存储。', [
  "The log gives the reason; 'iostlens doctor' checks the store.",
  '日志中有原因；可运行 iostlens doctor 检查存储。',
])
const LOST = trouble('Part of the store is lost or damaged.', '存储数据缺失或已损坏。', [
  "Restore it from a backup, or run 'iostlens verify' and 'iostlens repair'.",
  '请从备份恢复，或运行 iostlens verify 与 iostlens repair。',
])
/** The store has no block. */
export const EMPTY = trouble('Nothing is loaded yet.', '尚未加载任何数据。', [
  "Load with 'iostlens load' or 'iostlens up'; the first blocks appear within seconds.",
  '请用 iostlens load 或 iostlens up 加载；最初的区块数秒内即可查询。',
])
const ABSENT = trouble(
  'The store does not exist: nothing was ever loaded where --store (or --data) points.',
  '存储不存在：--store（或 --data）所指之处从未加载过数据。',
  [
    "Correct the setting, or load there with 'iostlens load'; the log names the place.",
    '请更正该设置，或用 iostlens load 向该处加载；日志中有具体位置。',
  ],
)
const OTHER = trouble(
  'The store is of another version than this process, which therefore answers no request: restart with the new version.',
  '存储的版本与本进程不同，因此本进程不再响应请求：请用新版本重新启动。',
  [
    "Restart with the version that migrated the store. If none has, run 'iostlens indices migrate'.",
    '请用迁移该存储的版本重新启动；若尚未迁移，请运行 iostlens indices migrate。',
  ],
)
const FAR_BEHIND = trouble(
  `Loading is more than ${BEHIND} blocks behind the chain.`,
  `数据加载落后链上 ${BEHIND} 个区块以上。`,
  [
    'In a first load this is normal. Otherwise see whether a loader is running, and its log.',
    '首次加载时属正常现象；否则请检查加载进程是否在运行，并查看其日志。',
  ],
)
const NODE_SILENT = trouble(
  'No node responds, so it is unknown how far loading is behind the chain.',
  '没有全节点响应，因此无法得知加载落后多少。',
  CHECK_NODES,
)
const NODE_ALONE = trouble(
  'No node responds, so nothing can be loaded.',
  '没有全节点响应，因此无法加载数据。',
  CHECK_NODES,
)
const NODE_BEHIND = trouble(
  'The node is behind the loaded blocks, so it is unknown how far loading is behind the chain.',
  '全节点落后于已加载的区块，因此无法得知加载落后多少。',
  ['Wait until the node has caught up, or use another one.', '请等待全节点追上，或改用其他全节点。'],
)
export const CLOCK = trouble(
  "The machine's clock is before the last loaded block, so the age of that block is unknown.",
  '本机时钟早于最后加载的区块，因此无法得知该区块的时间差。',
  ['Set the clock of the machine (NTP).', '请校准本机时钟（NTP）。'],
)
const OLD = trouble('The last loaded block is old.', '最后加载的区块距今已久。', [
  'Either the loader is not running, or its node is stuck: compare the height of that block with the head of another node.',
  '可能是加载进程未运行，或其全节点已停滞：请将该区块的高度与其他全节点的最新高度比较。',
])
