import { type HeadSource, headSource } from './head-source.ts'
import type { HeadBlock, HeadState } from './head-state.ts'

const blocksOf = (shown: HeadState): readonly HeadBlock[] => (shown.status === 'followed' ? shown.blocks : [])

/** A message from which another thread builds its `HeadState`, given the messages before. Each block is sent once. */
export type HeadMessage =
  | {
      readonly status: 'followed'
      readonly tip: Extract<HeadState, { status: 'followed' }>['tip']
      readonly lib: number
      /** Hashes of all blocks in order; blocks that are not in `added` were sent before. */
      readonly hashes: readonly string[]
      readonly added: readonly HeadBlock[]
    }
  | { readonly status: Exclude<HeadState['status'], 'followed'> }

/** The initial state of a receiver: it knows no blocks. */
export const NO_BLOCKS_SENT: HeadState = { status: 'none' }

/**
 * The message for a receiver whose last message described `before`. A receiver that was sent no blocks for a
 * time knows none.
 */
export const headMessage = (shown: HeadState, before: HeadState): HeadMessage => {
  if (shown.status !== 'followed') return shown
  const known = new Set(blocksOf(before))
  return {
    status: 'followed',
    tip: shown.tip,
    lib: shown.lib,
    hashes: shown.blocks.map(({ doc }) => doc.hash),
    added: shown.blocks.filter(block => !known.has(block)),
  }
}

/** The head blocks in another thread, built from messages of which the first contains all blocks. */
export const receivedHead = (first: HeadMessage): HeadSource & { take(message: HeadMessage): void } => {
  let known: ReadonlyMap<string, HeadBlock> = new Map()
  const receive = (message: HeadMessage): HeadState => {
    const { status } = message
    const added = status === 'followed' ? message.added.map(block => [block.doc.hash, block] as const) : []
    const hashes = status === 'followed' ? message.hashes : []
    const all = new Map([...known, ...added])
    const blocks = hashes.flatMap(hash => all.get(hash) ?? [])
    known = new Map(blocks.map(block => [block.doc.hash, block]))
    return status === 'followed' ? { status, tip: message.tip, lib: message.lib, blocks } : { status }
  }
  const current = headSource(receive(first))
  return { ...current, take: message => current.show(receive(message)) }
}
