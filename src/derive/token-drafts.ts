import { Failure } from '#failure/failure.ts'
import { seriesOf } from '#indices/series.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import type { SeriesDrafts } from './series.ts'
import type { State } from './state.ts'

/** A token, to be changed in place. */
export type TokenDraft = { -readonly [K in keyof TokenDoc]: TokenDoc[K] }

/** Tokens while a block is derived. */
export type TokenDrafts = {
  /** The draft of a token. Throws Failure 'defect' when there is no such token. */
  token(symbol: string): TokenDraft
  /**
   * Adds a new token, or the next one of the same symbol, whose owners keep the amounts that they had of the former
   * one. Returns the former one.
   */
  create(doc: TokenDoc): TokenDoc | undefined
  /** Writes the tokens that changed, and records the change in their number of holders. */
  settle(): void
}

type Draft = { readonly before: TokenDoc | undefined; readonly doc: TokenDraft }
type Deps = { readonly state: State; readonly past: SeriesDrafts; readonly height: number }

export function tokenDrafts({ state, past, height }: Deps): TokenDrafts {
  const drafts = new Map<string, Draft>()
  return {
    token: symbol => {
      const known = drafts.get(symbol)
      if (known !== undefined) return known.doc
      const before = state.get(tokens, symbol)
      if (before === undefined)
        throw new Failure('defect', `Block ${height} moves token "${symbol}", which was never created.`)
      const doc = { ...before }
      drafts.set(symbol, { before, doc })
      return doc
    },
    create: doc => {
      const known = drafts.get(doc.symbol)
      const before = known === undefined ? state.get(tokens, doc.symbol) : known.before
      const former = known?.doc ?? before
      drafts.set(doc.symbol, { before, doc: { ...doc, holder_count: former?.holder_count ?? 0 } })
      return former
    },
    settle: () => {
      for (const { before, doc } of drafts.values()) {
        if (before === undefined || changed(before, doc)) state.put(tokens, doc)
        const gained = doc.holder_count - (before?.holder_count ?? 0)
        if (gained !== 0) past.note(past.open(seriesOf.holders(doc.symbol)), BigInt(gained), { kind: 'block' })
      }
    },
  }
}

const changed = (before: TokenDoc, doc: TokenDoc): boolean =>
  before.total_supply !== doc.total_supply ||
  before.current_supply !== doc.current_supply ||
  before.holder_count !== doc.holder_count ||
  before.issuer !== doc.issuer ||
  before.tx_hash !== doc.tx_hash
