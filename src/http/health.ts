import type { Text } from '#actions/define.ts'
import { BEHIND } from '#actions/find/loading.ts'
import { Failure, type FailureKind } from '#failure/failure.ts'
import { unfitText } from '#node/pool.ts'
import type { ChainInfo, Node, Unfit } from '#node/port.ts'
import { AbsentStore, OtherVersion } from '#store/failures.ts'
import type { Published } from '#store/port.ts'
import { requireServable, type ServedStore } from '#store/servable.ts'
import type { Clock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import type { HttpCounts } from './counts.ts'

/** The node as it was last heard. */
type NodeReport = Pick<Node, 'lastInfo' | 'reportAgeMs' | 'whyUnfit'>

/** The health of a service. `/ready`, `/status` and the metrics print it; the command `status` prints its freshness. */
export type Health = {
  /** The last loaded block; undefined: nothing is loaded, or the store cannot be served from. */
  readonly published: Published | undefined
  /**
   * The reason why the store cannot be served from. Kind 'unavailable': it cannot be read; 'damaged': it has lost data;
   * 'conflict': it is of another version, or not a store; AbsentStore: there is none.
   */
  readonly failure: Failure | undefined
  /** Absent as long as nothing is loaded. */
  readonly fresh: Freshness | undefined
  /** Whether answers were refused because of damage. */
  readonly isDamageMet: boolean
  /** Whether a node is configured, and none responds. */
  readonly isNodeSilent: boolean
}

/** Minimum milliseconds between two reads of the store, since anyone may request the height. */
const KEPT_MS = 500
/** Time limit of a read: a slower store is too slow for any request. */
const STORE_MS = 1_000

/** Reads the health of a service; the published block is at most half a second old. */
export function watchHealth({
  store,
  node,
  clock,
  counts,
}: {
  readonly store: ServedStore
  readonly node: NodeReport | undefined
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly counts: Pick<HttpCounts, 'damageMet'>
}): () => Promise<Health> {
  let kept: { readonly published: Promise<Published | undefined>; readonly until: number } | undefined
  return async () => {
    if (kept === undefined || clock.elapsed() >= kept.until)
      kept = { published: requireServable(store), until: clock.elapsed() + KEPT_MS }
    const late = () => new Failure('unavailable', `The store did not return its height within ${STORE_MS} ms.`)
    const found = await awaitLimited(kept.published, { ms: STORE_MS, late }).catch(requireStoreFailure)
    const published = found instanceof Failure ? undefined : found
    return {
      published,
      failure: found instanceof Failure ? found : undefined,
      fresh: published && measureFreshness(published, node, clock),
      isDamageMet: counts.damageMet.read() > 0,
      isNodeSilent: node !== undefined && node.lastInfo() === undefined,
    }
  }
}

const OF_STORES: ReadonlySet<FailureKind> = new Set(['unavailable', 'damaged', 'conflict'])

function requireStoreFailure(error: unknown): Failure {
  if (error instanceof AbsentStore || (error instanceof Failure && OF_STORES.has(error.kind))) return error
  throw error
}

/** Whether the store can be read and passes the integrity checks made while serving. */
export function isWhole({ failure, published, isDamageMet }: Health): boolean {
  return failure === undefined && (published === undefined || !isDamageMet)
}

/** The fields of `/ready` and `/status` about the end of the store. null: unknown. */
export function listFreshFields(fresh: Freshness | undefined) {
  return {
    lib: fresh?.lib ?? null,
    behind: fresh?.behind ?? null,
    behind_seconds: fresh?.behindSeconds ?? null,
    lag_seconds: fresh?.lagSeconds ?? null,
    node: fresh?.node ?? null,
    node_heard: typeof fresh?.reportedAt === 'number' ? new Date(fresh.reportedAt).toISOString() : null,
  }
}

/** The distance between the published block and the end of the chain. null: unknown. */
export type Freshness = {
  /** The height of the last irreversible block: the node's, or the one known when the last block was loaded. */
  readonly lib: number
  /** Irreversible blocks that are not loaded yet, according to a node that answered recently. */
  readonly behind: number | null
  /** Seconds of the chain's time between the last loaded block and the node's last irreversible one. */
  readonly behindSeconds: number | null
  /**
   * Age of the last loaded block by this machine's clock, seconds; null: the clock is wrong, well before that block.
   */
  readonly lagSeconds: number | null
  /** `foreign`, `apart`: the responding node is of another chain, or on another branch, than the store. */
  readonly node: 'none' | 'reachable' | 'unreachable' | NonNullable<Freshness['unfit']>['is']
  /** The reason, when the node is on another chain or branch. */
  readonly unfit: ReturnType<Node['whyUnfit']>
  /** Time of the last answer of a node of the chain, milliseconds since 1970. */
  readonly reportedAt: number | null
  /** Whether the load is so far behind that answers may lack existing data. */
  readonly isFarBehind: boolean
}

/** Tolerated clock skew, milliseconds. */
const SKEW_MS = 10_000

/** The freshness from data in memory, without a request to a node. */
export function measureFreshness(at: Published, node: NodeReport | undefined, clock: Pick<Clock, 'now'>): Freshness {
  const reported = node?.lastInfo()
  const unfit = reported === undefined ? node?.whyUnfit() : undefined
  // A node that far behind the store knows no more of the chain's end than a silent one.
  const info = reported !== undefined && reported.libBlock < at.height - BEHIND ? undefined : reported
  const lib = Math.max(at.lib, info?.libBlock ?? 0)
  const behind = Math.max(0, lib - at.height)
  const ageMs = clock.now() - Number(at.time / 1_000_000n)
  const agoMs = node?.reportAgeMs()
  return {
    lib,
    behind: info === undefined ? null : behind,
    behindSeconds: info === undefined ? null : computeBehindSeconds(at, info),
    lagSeconds: ageMs < -SKEW_MS ? null : Math.max(0, ageMs) / 1_000,
    node: node === undefined ? 'none' : (unfit?.is ?? (reported === undefined ? 'unreachable' : 'reachable')),
    unfit,
    reportedAt: agoMs === undefined ? null : clock.now() - agoMs,
    isFarBehind: behind > BEHIND,
  }
}

/** Seconds of the chain's time from a published block to the end that a node reports; 0: the node is not ahead of it. */
function computeBehindSeconds(at: Published, { libBlock, libTime }: Pick<ChainInfo, 'libBlock' | 'libTime'>): number {
  return libBlock <= at.height || libTime <= at.time ? 0 : Number((libTime - at.time) / 1_000_000n) / 1_000
}

/** A fault, and its remedy for the operator. */
export type Trouble = { readonly what: Text; readonly help: Text }

/** Age of a stale block, milliseconds. Blocks are irreversible, and loaded, about 40 seconds after they were made. */
const OLD_MS = 300_000

/** The faults of a service, most important first. */
export function findTroubles(
  { failure, fresh, isDamageMet, isNodeSilent }: Omit<Health, 'published'>,
  maxLagMs = OLD_MS,
): readonly Trouble[] {
  if (failure instanceof AbsentStore) return [ABSENT]
  if (failure instanceof OtherVersion) return [OTHER]
  if (failure !== undefined) return [failure.kind === 'damaged' ? LOST : UNREADABLE]
  if (fresh === undefined) return [EMPTY, ...(isNodeSilent ? [NODE_ALONE] : [])]
  return [
    ...(isDamageMet ? [LOST] : []),
    ...findLoadTroubles(fresh),
    ...(fresh.lagSeconds === null ? [CLOCK] : []),
    ...(fresh.lagSeconds !== null && fresh.lagSeconds * 1_000 > maxLagMs ? [OLD] : []),
  ]
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

function describeUnfit(unfit: Unfit): Trouble {
  const zh =
    unfit.is === 'foreign'
      ? `全节点所属的链与存储中的不同：${unfit.why}。`
      : `全节点在另一条分支上：区块 ${unfit.height} 在存储中为 ${unfit.stored}，在全节点上为 ${unfit.there}。`
  return defineTrouble(`${unfitText(unfit, 'the node')}.`, zh, [
    "'iostlens doctor' names the node and the remedy.",
    '可运行 iostlens doctor，查看是哪个全节点以及处理办法。',
  ])
}

/** A fault and its remedy, each in English and Chinese. */
const defineTrouble = (en: string, zh: string, [helpEn, helpZh]: readonly [string, string]): Trouble => ({
  what: { en, zh },
  help: { en: helpEn, zh: helpZh },
})

const CHECK_NODES = [
  "Check the nodes of --node with 'iostlens doctor', or set a further one.",
  '请用 iostlens doctor 检查 --node 指定的全节点，或另外添加一个。',
] as const
const UNREADABLE = defineTrouble('The store cannot be read.', '无法读取存储。', [
  "The log gives the reason; 'iostlens doctor' checks the store.",
  '日志中有原因；可运行 iostlens doctor 检查存储。',
])
const LOST = defineTrouble('Part of the store is lost or damaged.', '存储数据缺失或已损坏。', [
  "Restore it from a backup, or run 'iostlens verify' and 'iostlens repair'.",
  '请从备份恢复，或运行 iostlens verify 与 iostlens repair。',
])
/** The store has no block. */
export const EMPTY = defineTrouble('Nothing is loaded yet.', '尚未加载任何数据。', [
  "Load with 'iostlens load' or 'iostlens up'; the first blocks appear within seconds.",
  '请用 iostlens load 或 iostlens up 加载；最初的区块数秒内即可查询。',
])
const ABSENT = defineTrouble(
  'The store does not exist: nothing was ever loaded where --store (or --data) points.',
  '存储不存在：--store（或 --data）所指之处从未加载过数据。',
  [
    "Correct the setting, or load there with 'iostlens load'; the log names the place.",
    '请更正该设置，或用 iostlens load 向该处加载；日志中有具体位置。',
  ],
)
const OTHER = defineTrouble(
  'The store is of another version than this process, which therefore answers no request: restart with the new version.',
  '存储的版本与本进程不同，因此本进程不再响应请求：请用新版本重新启动。',
  [
    "Restart with the version that migrated the store. If none has, run 'iostlens indices migrate'.",
    '请用迁移该存储的版本重新启动；若尚未迁移，请运行 iostlens indices migrate。',
  ],
)
const FAR_BEHIND = defineTrouble(
  `Loading is more than ${BEHIND} blocks behind the chain.`,
  `数据加载落后链上 ${BEHIND} 个区块以上。`,
  [
    'In a first load this is normal. Otherwise see whether a loader is running, and its log.',
    '首次加载时属正常现象；否则请检查加载进程是否在运行，并查看其日志。',
  ],
)
const NODE_SILENT = defineTrouble(
  'No node responds, so it is unknown how far loading is behind the chain.',
  '没有全节点响应，因此无法得知加载落后多少。',
  CHECK_NODES,
)
const NODE_ALONE = defineTrouble(
  'No node responds, so nothing can be loaded.',
  '没有全节点响应，因此无法加载数据。',
  CHECK_NODES,
)
const NODE_BEHIND = defineTrouble(
  'The node is behind the loaded blocks, so it is unknown how far loading is behind the chain.',
  '全节点落后于已加载的区块，因此无法得知加载落后多少。',
  ['Wait until the node has caught up, or use another one.', '请等待全节点追上，或改用其他全节点。'],
)
export const CLOCK = defineTrouble(
  "The machine's clock is before the last loaded block, so the age of that block is unknown.",
  '本机时钟早于最后加载的区块，因此无法得知该区块的时间差。',
  ['Set the clock of the machine (NTP).', '请校准本机时钟（NTP）。'],
)
const OLD = defineTrouble('The last loaded block is old.', '最后加载的区块距今已久。', [
  'Either the loader is not running, or its node is stuck: compare the height of that block with the head of another node.',
  '可能是加载进程未运行，或其全节点已停滞：请将该区块的高度与其他全节点的最新高度比较。',
])
