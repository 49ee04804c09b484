import { type HeadSource, showing } from './showing.ts'
import type { HeadBlock, Shown } from './shown.ts'

const blocksOf = (shown: Shown): readonly HeadBlock[] => (shown.status === 'followed' ? shown.blocks : [])

/** A message from which another thread makes its `Shown`, beside the messages before: each block is sent once. */
export type HeadMessage =
  | {
      readonly status: 'followed'
      readonly tip: Extract<Shown, { status: 'followed' }>['tip']
      readonly lib: number
      /** Hashes of the blocks in order; those that are not in `added` were told before. */
      readonly hashes: readonly string[]
      readonly added: readonly HeadBlock[]
    }
  | { readonly status: Exclude<Shown['status'], 'followed'> }

/** A receiver knows no blocks at first. */
export const NOTHING_TOLD: Shown = { status: 'none' }

/** `before`: what the receiver was told last. After a time without blocks it has none. */
export const messageOf = (shown: Shown, before: Shown): HeadMessage => {
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

/** The blocks above as another thread tells of them, in messages from one with all blocks on. */
export const receivedHead = (first: HeadMessage): HeadSource & { take(message: HeadMessage): void } => {
  let known: ReadonlyMap<string, HeadBlock> = new Map()
  const receive = (message: HeadMessage): Shown => {
    const { status } = message
    const added = status === 'followed' ? message.added.map(block => [block.doc.hash, block] as const) : []
    const hashes = status === 'followed' ? message.hashes : []
    const all = new Map([...known, ...added])
    const blocks = hashes.flatMap(hash => all.get(hash) ?? [])
    known = new Map(blocks.map(block => [block.doc.hash, block]))
    return status === 'followed' ? { status, tip: message.tip, lib: message.lib, blocks } : { status }
  }
  const current = showing(receive(first))
  return { ...current, take: message => current.show(receive(message)) }
}
