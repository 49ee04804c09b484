import type { Usage } from '#store/port.ts'
import { DAY_MS } from '#time/units.ts'
import type { Use, Uses } from './use.ts'

/** Begins a day. Requests of the previous day that were not yet shared are shared later. */
export const startDay = (use: Use, day: number): void => {
  const { day: lastDay, today, shared } = use
  Object.assign(use, { day, today: 0, shared: 0, lastDay, late: today - shared })
}

/**
 * Adds the new requests of a day to the shared usage, and stores the counts of all processes, also those of
 * keys unused here.
 */
export const shareDay = async (uses: Uses, usage: Pick<Usage, 'add'>, at: number): Promise<void> => {
  const day = Math.floor(at / DAY_MS)
  const { fresh, late } = unshared(uses, day)
  for (const [lastDay, counts] of late) {
    await usage.add(lastDay, counts, (lastDay + 1) * DAY_MS - 1)
    for (const [id, count] of counts) withNote(uses, id, use => noteLate(use, lastDay, count))
  }
  const counts = await usage.add(day, fresh, at)
  for (const id of new Set([...fresh.keys(), ...counts.keys()]))
    withNote(uses, id, use => {
      const added = fresh.get(id) ?? 0
      // Another thread may have begun the next day.
      if (use.day <= day) noteShared(use, day, { added, shared: counts.get(id) ?? 0 })
      else noteLate(use, day, added)
    })
}

const withNote = (uses: Uses, id: string, work: (use: Use) => void): void => {
  const use = uses.beginNote(id)
  try {
    work(use)
  } finally {
    uses.end(use)
  }
}

/** Requests that were not yet shared: those of the day, and those of earlier days, by day. */
const unshared = (uses: Uses, day: number) => {
  const fresh = new Map<string, number>()
  const late = new Map<number, Map<string, number>>()
  for (const id of uses.ids())
    withNote(uses, id, use => {
      if (use.day < day) startDay(use, day)
      if (use.day === day && use.today !== use.shared) fresh.set(id, use.today - use.shared)
      if (use.late === 0) return
      const counts = late.get(use.lastDay) ?? new Map<string, number>()
      late.set(use.lastDay, counts.set(id, use.late))
    })
  return { fresh, late }
}

const noteLate = (use: Use, lastDay: number, added: number): void => {
  if (use.lastDay === lastDay) use.late -= added
}

type Added = { readonly added: number; readonly shared: number }

const noteShared = (use: Use, day: number, { added, shared }: Added): void => {
  // Other threads have counted further requests meanwhile.
  const since = use.day === day ? use.today - use.shared - added : 0
  Object.assign(use, { day, today: shared + since, shared })
}
