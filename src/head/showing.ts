import type { Shown } from './shown.ts'

/** The current head blocks, and notice of changes. */
export type HeadSource = {
  shown(): Shown
  /** Calls `listener` after each change with the new and the previous value, until the returned function is called. */
  onChange(listener: (shown: Shown, before: Shown) => void): () => void
}

/** A source that shows the last given value. */
export const showing = (first: Shown): HeadSource & { show(next: Shown): void } => {
  const listeners = new Set<(shown: Shown, before: Shown) => void>()
  let shown = first
  return {
    shown: () => shown,
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

const isSame = (a: Shown, b: Shown): boolean =>
  a.status === 'followed' && b.status === 'followed'
    ? a.tip.hash === b.tip.hash &&
      a.lib === b.lib &&
      a.blocks[0] === b.blocks[0] &&
      a.blocks.length === b.blocks.length
    : a.status === b.status
