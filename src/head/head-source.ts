import type { HeadState } from './head-state.ts'

/** The current head blocks, and notice of changes. */
export type HeadSource = {
  current(): HeadState
  /** Calls `listener` after each change with the new and the previous value, until the returned function is called. */
  onChange(listener: (shown: HeadState, before: HeadState) => void): () => void
}

/** A source that shows the last given value. */
export const headSource = (first: HeadState): HeadSource & { show(next: HeadState): void } => {
  const listeners = new Set<(shown: HeadState, before: HeadState) => void>()
  let shown = first
  return {
    current: () => shown,
    onChange: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    show: next => {
      const before = shown
      if (isSame(before, next)) return
      shown = next
      for (const listener of listeners) listener(next, before)
    },
  }
}

const isSame = (a: HeadState, b: HeadState): boolean =>
  a.status === 'followed' && b.status === 'followed'
    ? a.tip.hash === b.tip.hash && a.lib === b.lib && a.blocks[0] === b.blocks[0] && a.blocks.length === b.blocks.length
    : a.status === b.status
