import type { HeadRow } from '#derive/head-rows.ts'
import type { BlockDoc } from '#indices/block.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { Published } from '#store/port.ts'

/** Height and hash of a block. */
export type BlockRef = { readonly height: number; readonly hash: string }

/** A verified block that is not irreversible yet, with the rows that it will add to lists. */
export type HeadBlock = {
  readonly doc: BlockDoc
  /** All transactions except the base transaction. */
  readonly transactions: readonly TransactionDoc[]
  readonly rows: readonly HeadRow[]
  /** The node's transaction objects in block order, compact JSON text. */
  readonly bodies: readonly string[]
}

/**
 * Whether the blocks above the published one are known.
 *
 * - `followed`: they are known, up to the tip.
 * - `none`: no node is followed.
 * - `away`: no node answers.
 * - `behind`: the node is behind the store, or the store too far behind the node.
 * - `apart`: the node's branch does not lead to the published block.
 * - `unproved`: the node's blocks cannot be proved.
 */
export const HEAD_STATUSES = ['followed', 'none', 'away', 'behind', 'apart', 'unproved'] as const
export type HeadStatus = (typeof HEAD_STATUSES)[number]

/** The blocks above the published one at one moment; never changed. */
export type HeadState =
  | {
      readonly status: 'followed'
      readonly tip: BlockRef
      /** The last irreversible block, as reported by the node that has this branch. */
      readonly lib: number
      /**
       * One branch in order, each block the child of the one before, the tip last. It may begin below the
       * published block.
       */
      readonly blocks: readonly HeadBlock[]
    }
  | { readonly status: Exclude<HeadStatus, 'followed'> }

/** The current head blocks. */
export type HeadSource = { current(): HeadState }

/** The head blocks above one published height. */
export type HeadAt = {
  readonly status: HeadStatus
  /** The height of the tip; undefined: not `followed`. */
  readonly height: number | undefined
  /** Height up to which the blocks are irreversible, as reported by the node. */
  readonly lib: number
  readonly blocks: readonly HeadBlock[]
}

const createEmptyHead = (status: HeadStatus): HeadAt => ({ status, height: undefined, lib: -1, blocks: [] })

/** The value when no node is followed. */
export const NO_HEAD: HeadAt = createEmptyHead('none')

/**
 * The head blocks above a published block; none unless the branch leads to exactly that block. `shown`
 * undefined: no node is followed.
 */
export function selectHead(shown: HeadState | undefined, at: Pick<Published, 'height' | 'hash'>): HeadAt {
  if (shown === undefined) return NO_HEAD
  if (shown.status !== 'followed') return createEmptyHead(shown.status)
  const { tip, lib, blocks } = shown
  // The published block once came from the node, so the node's chain is at least as high.
  if (tip.height <= at.height) return { status: 'followed', height: at.height, lib: at.height, blocks: [] }
  const first = at.height + 1 - (tip.height - blocks.length + 1)
  if (blocks[first]?.doc.parent_hash !== at.hash) return createEmptyHead('apart')
  return { status: 'followed', height: tip.height, lib: Math.max(lib, at.height), blocks: blocks.slice(first) }
}

const byList = new WeakMap<HeadBlock, ReadonlyMap<string, readonly HeadRow[]>>()

/** The rows of a list in a block, in order. */
export function selectListRows(block: HeadBlock, list: string): readonly HeadRow[] {
  const known = byList.get(block) ?? groupRows(block)
  byList.set(block, known)
  return known.get(list) ?? []
}

function groupRows({ rows }: HeadBlock): ReadonlyMap<string, readonly HeadRow[]> {
  const found = new Map<string, HeadRow[]>()
  for (const row of rows)
    for (const list of row.lists) {
      const others = found.get(list)
      if (others === undefined) found.set(list, [row])
      else others.push(row)
    }
  return found
}
