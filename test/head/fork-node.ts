import { blockText, generatedNode, hashIn } from '../generator/answers.ts'
import { blockMaker, hashesOf, type Made, ownTransactions, type Placed } from '../generator/block.ts'
import { type Chain, createChain } from '../generator/chain.ts'
import { rawBlockText } from '../generator/raw-text.ts'
import { settingsOf } from '../generator/settings.ts'
import { type Answer, found, refused } from '../support/nodes/rpc/answer.ts'
import { answerCall, type NodeAnswers, serveCalls } from '../support/nodes/rpc/routes.ts'

/** A block of some branch. Blocks up to the base of the forks have no parent here. */
export type ForkBlock = {
  readonly made: Made
  readonly hash: string
  readonly parent: ForkBlock | undefined
  /** Transactions that the branch up to this block has not packed yet. One of its next blocks packs them. */
  readonly waiting: readonly Placed[]
}

/** The state of a node: its head and its last irreversible block. */
type Stand = { readonly head: ForkBlock; readonly lib: number }

/** A chain with forks: every block from `base` + 1 on may have rivals. */
export type Forks = {
  readonly chain: Chain
  readonly base: ForkBlock
  /**
   * Makes a child of a block. `waits`: the child packs nothing, as blocks of a busy fork do. Each seed gives
   * another block.
   */
  grow(parent: ForkBlock, how: { readonly waits: boolean; readonly seed: number }): ForkBlock
  /** Makes blocks on top of one another, each of which packs all that waits. Returns the last one. */
  growLine(parent: ForkBlock, blocks: number, seed: number): ForkBlock
  readonly blocks: ReadonlyMap<string, ForkBlock>
  /** The blocks above the base that contain a transaction, by its hash. */
  readonly holders: ReadonlyMap<string, readonly ForkBlock[]>
}

export function createForks(seed: number, base: number): Forks {
  const size = { blocks: 100_000, holders: 100, voters: 10, producers: 3, cycle: 64 }
  const chain = createChain(settingsOf({ seed, profile: 'busy', ...size }))
  const makeBlock = blockMaker(chain.world)
  const first = chain.block(base)
  const root: ForkBlock = { made: first, hash: hashIn(first, 3), parent: undefined, waiting: [] }
  const blocks = new Map([[root.hash, root]])
  const holders = new Map<string, ForkBlock[]>()
  const forks: Forks = {
    ...{ chain, base: root, blocks, holders },
    growLine: (parent, count, first) => {
      let tip = parent
      for (let more = 0; more < count; more += 1) tip = forks.grow(tip, { waits: false, seed: first + more })
      return tip
    },
    grow: (parent, { waits, seed: own }) => {
      const height = parent.made.height + 1
      const ready = [...parent.waiting, ...ownTransactions(chain.world, height)]
      const made = makeBlock(height, parent.made, { variant: { users: waits ? [] : ready, seed: own } })
      const block = { made, hash: hashIn(made, 3), parent, waiting: waits ? ready : [] }
      blocks.set(block.hash, block)
      for (const transaction of hashesOf(made)) holders.set(transaction, [...(holders.get(transaction) ?? []), block])
      return block
    },
  }
  return forks
}

export type ForkNode = {
  readonly url: string
  /** The state that the node answers from now on. */
  stand: Stand
  /** Called before each answer with the name of the call. A returned answer replaces the real one. */
  meddle: ((call: string) => Answer | undefined) | undefined
  /** While true, the node answers every call with 503. */
  isAway: boolean
  stop(): void
}

const NO_BLOCK = refused(2, 'block not found')
const BUSY: Answer = { status: 503, contentType: 'text/plain', text: 'busy' }

/** Serves the chain like a node in the given state. */
export function serveForks(forks: Forks, stand: Stand): ForkNode {
  const node: Pick<ForkNode, 'stand' | 'meddle' | 'isAway'> = { stand, meddle: undefined, isAway: false }
  let made: { readonly stand: Stand; readonly answers: NodeAnswers } | undefined
  const served = serveCalls({}, call => {
    if (node.isAway) return BUSY
    const instead = node.meddle?.(call.path.split('/')[1] ?? '')
    if (instead !== undefined) return instead
    if (made?.stand !== node.stand) made = { stand: node.stand, answers: answersAt(forks, node.stand) }
    return answerCall(made.answers, call, () => refused(12, 'Not Implemented'))
  })
  return Object.assign(node, { url: served.url, stop: () => void served.stop() })
}

function answersAt(forks: Forks, { head, lib }: Stand): NodeAnswers {
  const { chain, base } = forks
  const line = aboveOf(head, base.made.height).toReversed()
  const madeAt = (height: number): Made | undefined => {
    if (height <= base.made.height) return height >= 0 ? chain.block(height) : undefined
    return line[height - base.made.height - 1]?.made
  }
  const now: Chain = {
    ...chain,
    block: height => madeAt(height) ?? chain.block(height),
    timeOf: height => madeAt(height)?.time ?? chain.timeOf(height),
    hashed: () => Number.MAX_SAFE_INTEGER,
  }
  const statusOf = (height: number): string => (height <= lib ? 'IRREVERSIBLE' : 'PENDING')
  const shown = (made: Made | undefined, complete: string): Answer =>
    made === undefined ? NO_BLOCK : found(blockText(made, complete === 'true', statusOf(made.height)))
  const infoOf = (made: Made, side: string): string =>
    `"${side}_block":"${made.height}", "${side}_block_hash":"${hashIn(made, 3)}", "${side}_block_time":"${made.time}"`
  return {
    ...generatedNode(now, () => lib),
    getChainInfo: () =>
      found(
        `{"net_name":"generated", "protocol_version":"1.0", "chain_id":1024, "witness_list":[], "lib_witness_list":[], ` +
          `"pending_witness_list":[], ${infoOf(head.made, 'head')}, ${infoOf(now.block(lib), 'lib')}}`,
      ),
    getBlockByNumber: (number = '', complete = '') => shown(madeAt(Number(number)), complete),
    getBlockByHash: (hash = '', complete = '') => {
      const made = forks.blocks.get(hash)?.made
      if (made === undefined || made.height > head.made.height) return NO_BLOCK
      // A node knows an orphan until the orphan's height is irreversible.
      const isGone = made.height <= lib && madeAt(made.height) !== made
      return shown(isGone ? undefined : made, complete)
    },
    getRawBlockByNumber: (number = '') => {
      const made = madeAt(Number(number))
      return made === undefined ? NO_BLOCK : found(rawBlockText(chain.world, made))
    },
    getTxByHash: (hash = '') => transactionAnswer(forks, { line, lib }, hash),
  }
}

type Line = { readonly line: readonly ForkBlock[]; readonly lib: number }

function transactionAnswer({ holders, base }: Forks, { line, lib }: Line, hash: string): Answer {
  const all = holders.get(hash) ?? []
  const block = all.find(each => line[each.made.height - base.made.height - 1] === each)
  const [holder] = block === undefined ? all : [block]
  if (holder === undefined) return refused(2, 'tx not found')
  const answer = (status: string, transaction: string, height: number): Answer =>
    found(`{"status":"${status}", "transaction":${transaction}, "block_number":"${height}"}`)
  const text = textIn(holder, hash)
  // Outside of the line the transaction is back in the pool, so it has no receipt.
  if (block === undefined) return answer('PENDING', text.replace(/"tx_receipt":.*\}$/s, '"tx_receipt":null}'), -1)
  const { height } = block.made
  return height <= lib ? answer('IRREVERSIBLE', text, height) : answer('PACKED', text, -1)
}

/** The node's JSON of a transaction in a block. */
export const textIn = ({ made }: ForkBlock, hash: string): string => made.texts[hashesOf(made).indexOf(hash)] ?? ''

/** The blocks of a line from its tip down to a height, which is excluded. */
export function aboveOf(tip: ForkBlock, height: number): readonly ForkBlock[] {
  const blocks: ForkBlock[] = []
  for (let at: ForkBlock | undefined = tip; at !== undefined && at.made.height > height; at = at.parent) blocks.push(at)
  return blocks
}

/** Some blocks on top of another one, of which a few pack nothing. */
export function growOn({ grow }: Forks, parent: ForkBlock, blocks: number, random: () => number): ForkBlock {
  let tip = parent
  for (let more = 0; more < blocks; more += 1)
    tip = grow(tip, { waits: random() < 0.3, seed: Math.floor(random() * 2 ** 31) })
  return tip
}

/** A higher tip for a node, often on another branch from above its irreversible block. */
export function growSome(forks: Forks, { head, lib }: Stand, random: () => number): ForkBlock {
  const above = aboveOf(head, lib)
  const from: ForkBlock = random() < 0.55 ? (above[Math.floor(random() * above.length)]?.parent ?? head) : head
  return growOn(forks, from, head.made.height - from.made.height + 1 + Math.floor(random() * 5), random)
}

/** The block of a line at a height, which must not be below the base of the forks; the tip if the line is lower. */
export const ancestor = (tip: ForkBlock, height: number): ForkBlock => aboveOf(tip, height).at(-1)?.parent ?? tip

/** Whether a line contains a block. */
export const leadsTo = (tip: ForkBlock, { height, hash }: { readonly height: number; readonly hash: string }) =>
  tip.made.height >= height && ancestor(tip, height).hash === hash
