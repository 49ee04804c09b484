import { createHeadPosition, type HeadPosition, isMarked, type LowerBlock, trimHeadPosition } from './head-position.ts'
import { toMark } from './mark.ts'

/** The rows of a list in one block, as JSON. */
export type HeadLines = { readonly height: number; readonly hash: string; readonly lines: readonly string[] }

/** The state of the chain at one height. */
export type ChainState = {
  /** The published height. */
  readonly height: number
  /** The hash of a published block that was not yet irreversible for a reader. */
  readonly storedHash: (height: number) => string | undefined
  /** Head blocks with rows, of one branch that continues the published block; undefined: the branch is unknown. */
  readonly now: readonly HeadLines[] | undefined
}

/** Result of checking a position: the rows that were dropped, and the rest. */
export type CheckedPosition = {
  /** The lowest block whose rows were dropped, along with those of all higher blocks; undefined: none. */
  readonly droppedFrom: number | undefined
  /** The reader's position after that. */
  readonly kept: HeadPosition | undefined
}

/** The changes for a reader at a position. */
export type BranchUpdate = CheckedPosition & {
  /** The missing rows of head blocks, each with the position after it. They are sent after the irreversible rows. */
  readonly packed: readonly { readonly line: string; readonly place: HeadPosition }[]
  /** The reader's final position. */
  readonly place: HeadPosition | undefined
}

/**
 * Moves a reader to the current branch, after its missing irreversible rows, whose blocks are at `heights`.
 * While the branch is unknown, no row is added, and rows that may still be valid are kept.
 */
export function followBranch(
  place: HeadPosition | undefined,
  heights: readonly number[],
  known: ChainState,
): BranchUpdate {
  const own = checkPosition(place, heights, known)
  const above = trimHeadPosition(own.kept, known.height)
  const packed = listNewPacked(above, known)
  return { ...own, packed, place: packed.at(-1)?.place ?? above }
}

/**
 * Checks a position against the chain, before irreversible rows of blocks at `heights` are sent. Rows are
 * dropped from the first block on that another one replaced. They are also dropped above an irreversible row
 * that the reader lacks: its rows of higher blocks then follow a different block.
 */
export function checkPosition(
  place: HeadPosition | undefined,
  heights: readonly number[],
  known: ChainState,
): CheckedPosition {
  if (place === undefined) return { droppedFrom: undefined, kept: undefined }
  const { base, isWhole, below } = place
  const line = listReceivedBlocks(place)
  const statuses = line.map(block => getReceivedStatus(block, known))
  const proved = statuses.lastIndexOf('there')
  const has = new Set(line.map(({ height }) => height))
  const least = line[proved]?.height ?? base - 1
  const foreign = heights.find(height => height > least && height < place.height && !has.has(height))
  const gone = line.findIndex(
    ({ height }, at) => at > proved && (statuses[at] === 'gone' || (foreign !== undefined && height > foreign)),
  )
  if (gone < 0) return { droppedFrom: undefined, kept: place }
  const last = line[gone - 1]
  const kept = last === undefined ? undefined : findValidBlock(last, known)
  return {
    droppedFrom: gone > 0 || isWhole ? line[gone]?.height : base,
    kept:
      kept === undefined ? undefined : createHeadPosition({ base, ...kept, below: below.slice(0, gone - 1), isWhole }),
  }
}

/** A block of a position; `rows`: the number of its rows that the reader has; absent: all. */
type Had = LowerBlock & { readonly rows?: number }

const listReceivedBlocks = ({ below, height, hash, rows }: HeadPosition): readonly Had[] => [
  ...below,
  { height, mark: hash, rows },
]

function getReceivedStatus(
  block: Had,
  { height: published, storedHash, now }: ChainState,
): 'there' | 'gone' | 'unknown' {
  const { height, rows = 0 } = block
  if (height <= published) return isMarked(storedHash(height), block) ? 'there' : 'gone'
  if (now === undefined) return 'unknown'
  const isThere = now.some(each => each.height === height && isMarked(each.hash, block) && each.lines.length >= rows)
  return isThere ? 'there' : 'gone'
}

/** A block that is still valid, as the highest block of a position. */
function findValidBlock({ height, ...block }: Had, { height: published, storedHash, now = [] }: ChainState) {
  if (height > published) {
    const found = now.find(each => each.height === height && isMarked(each.hash, block))
    return found && { height, hash: found.hash, rows: found.lines.length }
  }
  const hash = storedHash(height)
  return hash === undefined ? undefined : { height, hash, rows: 0 }
}

function listNewPacked(
  place: HeadPosition | undefined,
  { height: published, now = [] }: Pick<ChainState, 'height' | 'now'>,
): BranchUpdate['packed'] {
  const index = place === undefined ? -1 : now.findIndex(({ hash }) => hash === place.hash)
  if (place !== undefined && index < 0) return []
  const below: LowerBlock[] = [...(place?.below ?? [])]
  return now.slice(Math.max(0, index)).flatMap(({ height, hash, lines }, at) => {
    const had = at > 0 || place === undefined ? 0 : place.rows === 0 ? lines.length : place.rows
    const top = { base: place?.base ?? published + 1, height, hash }
    const own = { below: [...below], isWhole: place?.isWhole ?? true }
    below.push({ height, mark: toMark(hash) })
    return lines
      .slice(had)
      .map((line, more) => ({ line, place: createHeadPosition({ ...top, ...own, rows: had + more + 1 }) }))
  })
}
