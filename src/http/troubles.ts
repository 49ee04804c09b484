import { BEHIND } from '#actions/find/loading.ts'
import type { Text } from '#actions/text.ts'
import type { Unfit } from '#node/chain-info.ts'
import { unfitText } from '#node/judge.ts'
import type { Freshness } from './freshness.ts'

/** Blocks are irreversible, and loaded, about 40 seconds after they were made. */
const OLD_MS = 300_000

/** What is wrong about the node and how far loading is; the first is the one that says most. */
export const behindTroubles = ({ node, unfit, behind, isFarBehind }: Freshness): readonly Text[] => [
  ...(unfit === undefined ? [] : [unfitTrouble(unfit)]),
  ...(isFarBehind ? [FAR_BEHIND] : []),
  ...(node === 'unreachable' ? [NODE_SILENT] : []),
  ...(node === 'reachable' && behind === null ? [NODE_BEHIND] : []),
]

/** What is wrong with a store that has blocks. */
export const troublesOf = (fresh: Freshness, maxLagMs = OLD_MS): readonly Text[] => [
  ...behindTroubles(fresh),
  ...(fresh.lagSeconds === null ? [CLOCK] : []),
  ...(fresh.lagSeconds !== null && fresh.lagSeconds * 1_000 > maxLagMs ? [OLD] : []),
]

const unfitTrouble = (unfit: Unfit): Text => ({
  en: `${unfitText(unfit, 'the node')}.`,
  zh:
    unfit.is === 'foreign'
      ? `全节点所属的链与存储中的不同：${unfit.why}。`
      : `全节点在另一条分支上：区块 ${unfit.height} 在存储中为 ${unfit.stored}，在全节点为 ${unfit.there}。`,
})

const FAR_BEHIND: Text = {
  en: `Loading is more than ${BEHIND} blocks behind the chain.`,
  zh: `数据加载落后链上 ${BEHIND} 个区块以上。`,
}
const NODE_SILENT: Text = {
  en: 'No node responds, so it is unknown how far loading is behind the chain.',
  zh: '没有全节点响应，因此无法得知加载落后多少。',
}
const NODE_BEHIND: Text = {
  en: 'The node is behind the loaded blocks, so it is unknown how far loading is behind the chain.',
  zh: '全节点落后于已加载的区块，因此无法得知加载落后多少。',
}
const CLOCK: Text = {
  en: "The machine's clock is before the last loaded block, so the age of that block is unknown.",
  zh: '本机时钟早于最后加载的区块，因此无法得知该区块的时间差。',
}
const OLD: Text = { en: 'The last loaded block is old.', zh: '最后加载的区块已较旧。' }
