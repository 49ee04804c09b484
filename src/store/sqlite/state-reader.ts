import type { DocOf } from '#indices/define.ts'
import type { StateChange, StateIndex } from '#indices/registry.ts'
import {
  compareStandings,
  findCountedOrder,
  findStanding,
  type Standing,
  type StandingRange,
} from '#indices/standing.ts'
import { requireRanking } from '#store/ranking-page.ts'
import type { StateReader } from '#store/state-port.ts'
import type { SqliteConnection } from './connection.ts'
import { rankedRows } from './rank.ts'
import { dueBalances, getById } from './read.ts'

/** Members per statement. */
const STEP = 1_000

/** Reads state through `read`, which passes its open connection. */
export function openStateReader(read: <T>(work: (reader: SqliteConnection) => T) => T): StateReader {
  return {
    get: <I extends StateIndex>(index: I, id: string) =>
      read(reader => getById(reader, index, id)) as DocOf<I> | undefined,
    due: range => read(reader => dueBalances(reader, range)),
    members: range => read(reader => readMembers(reader, range)),
  }
}

function readMembers(reader: SqliteConnection, range: StandingRange): readonly StateChange['doc'][] {
  const order = findCountedOrder(range.index)
  if (order === undefined) throw new TypeError(`No order of ${range.index.name} is counted.`)
  // Counted orders are orders of state.
  const ranking = requireRanking({ ...range, index: range.index as StateIndex })
  const found: StateChange['doc'][] = []
  for (let after: Standing | undefined = range.after; ; ) {
    const rows = { range: { after, tied: Number.POSITIVE_INFINITY }, skip: 0, limit: STEP }
    const part = rankedRows(reader, ranking, rows) as readonly object[] as readonly StateChange['doc'][]
    for (const doc of part) {
      const standing = findStanding(order, doc)
      if (standing === undefined) throw new TypeError(`A document of ${range.index.name} is in no ranking.`)
      if (range.until !== undefined && compareStandings(standing, range.until) > 0) return found
      found.push(doc)
      after = standing
    }
    if (part.length < STEP) return found
  }
}
