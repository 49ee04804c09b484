import type { Connection } from './connection.ts'
import { quoted } from './tables.ts'

/** Writes rows of a table of places: some at once, in the order of the table. */
export type PlaceRows = {
  add(places: readonly bigint[], row: bigint): void
  /** Writes those that are not written yet. */
  end(): void
}

/** Places collected before they are written: some 4 ms. */
const COLLECTED = 2_000
/** Rows of one statement. More are not cheaper. */
const TOGETHER = 8

type PlaceRow = readonly [place: bigint, row: bigint]

/**
 * The lists of a row lie far from each other in the table, those of a thousand rows beside each other: sorted, and eight in
 * each statement, they take 0.4 times as long as one by one. With `replace` also where another row has one of the places;
 * of those added here the last one has it.
 */
export const placeRows = (
  connection: Connection,
  table: string,
  { replace }: { readonly replace: boolean },
): PlaceRows => {
  const verb = replace ? 'INSERT OR REPLACE' : 'INSERT'
  const statementOf = (rows: number) =>
    connection.statement(
      `${verb} INTO ${quoted(table)} ("place", "row") VALUES (?, ?)${', (?, ?)'.repeat(rows - 1)}`,
    )
  const [several, one] = [statementOf(TOGETHER), statementOf(1)]
  let collected: PlaceRow[] = []
  const end = (): void => {
    const sorted = collected.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    collected = []
    const whole = sorted.length - (sorted.length % TOGETHER)
    for (let at = 0; at < whole; at += TOGETHER) several.run(...sorted.slice(at, at + TOGETHER).flat())
    for (let at = whole; at < sorted.length; at += 1) one.run(...(sorted[at] ?? []))
  }
  return {
    add: (places, row) => {
      for (const place of places) collected.push([place, row])
      if (collected.length >= COLLECTED) end()
    },
    end,
  }
}
