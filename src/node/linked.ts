import type { Block } from '#chain/block.ts'
import { checkBaseTransaction, PARENT_HASH } from '#chain/check.ts'
import { Failure } from '#failure/failure.ts'

type Linking<T> = {
  /** The hash of the block before the first one; absent: any. */
  readonly parent?: string | undefined
  /** A block by itself; a child of `parent` if that is given. Throws Failure 'bad_block'. */
  readonly fetch: (height: number, parent: string | undefined) => Promise<T>
}

/**
 * The blocks of a run, each the child of the one before. Where two do not fit, either may be wrong: both are asked for
 * again. Throws Failure 'bad_block' if that is no help.
 */
export const linked = async <T extends { readonly block: Block }>(
  run: readonly T[],
  { parent, fetch }: Linking<T>,
): Promise<readonly T[]> => {
  const right: T[] = []
  for (const each of run) {
    const previous = right.at(-1)
    if (previous === undefined) {
      const fits = parent === undefined || each.block.parentHash === parent
      right.push(fits ? each : await fetch(each.block.height, parent))
      continue
    }
    if (misfit(previous.block, each.block) === undefined) {
      right.push(each)
      continue
    }
    const before = await fetch(previous.block.height, right.at(-2)?.block.hash ?? parent)
    const again = await fetch(each.block.height, before.block.hash).catch(contradiction)
    const wrong = misfit(before.block, again.block)
    if (wrong !== undefined) throw wrong
    right.splice(-1, 1, before, again)
  }
  return right
}

/** Both blocks were asked for again, so no other way to ask is left. */
const contradiction = (error: unknown): never => {
  if (!(error instanceof Failure) || error.details['rule'] !== PARENT_HASH) throw error
  const { message, details } = error
  throw new Failure('bad_block', message, { cause: error, details, help: OTHER_NODE })
}

const OTHER_NODE = 'The node contradicts itself. Use another node.'

/** Whether `block` is the child of `parent`: undefined, or what does not fit. */
const misfit = (parent: Block, block: Block): Failure | undefined => {
  try {
    if (block.parentHash !== parent.hash)
      throw new Failure(
        'bad_block',
        `Block ${block.height}: parent hash is ${block.parentHash}, block ${parent.height} has ${parent.hash}.`,
        { details: { height: block.height }, help: OTHER_NODE },
      )
    checkBaseTransaction(block, parent)
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}
