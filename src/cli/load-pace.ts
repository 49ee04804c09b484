import type { StageTimes } from '#load/fill.ts'
import type { LoadProgress } from '#load/load-options.ts'
import { createPace } from '#time/pace.ts'

/** Window of the rates, about ten seconds: long enough for steady figures, short enough to follow changes. */
const WINDOW_MS = 10_000

/** The part that a load waits for most; `deriving`: its own work. */
export const LIMITS = ['node', 'deriving', 'store'] as const satisfies readonly (keyof StageTimes)[]
export type PaceLimit = (typeof LIMITS)[number]

/** Progress of a load. Rates are per second. */
export type LoadPace = {
  readonly height: number
  readonly target: number
  /** Fraction loaded, 0 … 1. */
  readonly share: number
  readonly blocks: number
  readonly transactions: number
  /** Rate of blocks, transactions and records together. */
  readonly documents: number
  /** undefined: the load makes no progress. */
  readonly secondsLeft: number | undefined
  /** undefined: nothing was loaded recently. */
  readonly limit: PaceLimit | undefined
}

export type PaceKeeper = {
  note(progress: LoadProgress): void
  /** The pace at this moment: the rates of a stalled load fall. undefined: nothing was committed yet. */
  now(): LoadPace | undefined
}

/**
 * Measures the pace of a load.
 * @param now milliseconds, monotonic
 */
export function paceKeeper(now: () => number, { from }: { readonly from: number }): PaceKeeper {
  const paces = {
    blocks: createPace(WINDOW_MS),
    transactions: createPace(WINDOW_MS),
    documents: createPace(WINDOW_MS),
    node: createPace(WINDOW_MS),
    deriving: createPace(WINDOW_MS),
    store: createPace(WINDOW_MS),
  }
  let last: LoadProgress | undefined
  const noteAll = ({ height, blocks, transactions, records, spent }: LoadProgress): void => {
    const counts = { blocks: height, transactions, documents: blocks + transactions + records, ...spent }
    for (const [name, pace] of Object.entries(paces)) pace.note(now(), counts[name as keyof typeof counts])
    notedAt = now()
  }
  let notedAt = now()
  for (const [name, pace] of Object.entries(paces)) pace.note(notedAt, name === 'blocks' ? from : 0)
  return {
    note: progress => {
      last = progress
      noteAll(progress)
    },
    now: () => {
      if (last === undefined) return undefined
      if (now() - notedAt > WINDOW_MS) noteAll(last)
      return toLoadPace(last, name => paces[name].perSecond())
    },
  }
}

type Paced = 'blocks' | 'transactions' | 'documents' | PaceLimit

function toLoadPace({ height, target }: LoadProgress, perSecond: (name: Paced) => number): LoadPace {
  const blocks = perSecond('blocks')
  const limit = LIMITS.toSorted((a, b) => perSecond(b) - perSecond(a))[0]
  return {
    height,
    target,
    share: target <= 0 ? 1 : Math.min(1, Math.max(0, height / target)),
    blocks,
    transactions: perSecond('transactions'),
    documents: perSecond('documents'),
    secondsLeft: blocks <= 0 ? undefined : Math.max(0, Math.ceil((target - height) / blocks)),
    limit: limit === undefined || perSecond(limit) === 0 ? undefined : limit,
  }
}
