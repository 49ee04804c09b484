import { lists } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import type { PlacedRow } from '#store/port.ts'
import type { Sides } from './compare.ts'
import { ABSENT } from './finding.ts'

/** Places per page. */
const PAGE = 2_500
/** Places per answer; a page with more than this has too many rows in any case. */
const LIMIT = 5_000
const FIRST = -(2n ** 63n)
const LAST = 2n ** 63n - 1n
const ORDINALS = 2n ** 32n

/**
 * Checks that each of the places 1 … count of every list has exactly the row that belongs there, and that no
 * row is elsewhere. Reads all places in order, page by page.
 */
export async function compareRows(sides: Sides): Promise<void> {
  for (let after = FIRST; after < LAST; ) {
    const { expected, stored, until } = await nextPage(sides, after)
    await comparePage(sides, expected, stored)
    sides.onProgress(expected.length)
    after = until
  }
}

/** The next page of both sides. It is shorter where many more rows are stored than expected. */
async function nextPage({ stored, expected }: Sides, after: bigint) {
  const wanted = (await expected.placed({ after, until: LAST, limit: PAGE })).slice(0, PAGE + 1)
  const isLast = wanted.length <= PAGE
  for (let length = Math.min(PAGE, wanted.length); ; length = length >> 1) {
    const page = wanted.slice(0, length)
    const until = isLast && length === wanted.length ? LAST : (page.at(-1)?.place ?? LAST)
    const there = await stored.placed({ after, until, limit: LIMIT })
    if (there.length <= LIMIT) return { expected: page, stored: there, until }
    if (length > 1) continue
    // The answer is cut at its limit: expected rows beyond it are not reported missing.
    const came = new Set(there.map(({ place }) => place))
    return { expected: page.filter(({ place }) => came.has(place)), stored: there, until }
  }
}

async function comparePage(sides: Sides, expected: readonly PlacedRow[], stored: readonly PlacedRow[]): Promise<void> {
  const wanted = new Map(expected.map(({ place, id }) => [place, id]))
  const there = new Map<bigint, string[]>()
  for (const { place, id } of stored) there.set(place, [...(there.get(place) ?? []), id])
  const places = [...new Set([...wanted.keys(), ...there.keys()])].filter(
    place => there.get(place)?.join(' ') !== wanted.get(place),
  )
  if (places.length === 0) return
  const names = await readListNames(sides, new Set(places.map(place => Number(place / ORDINALS))))
  for (const place of places) {
    const id = wanted.get(place)
    sides.found({
      index: lists.name,
      id: names.get(Number(place / ORDINALS)) ?? `number ${place / ORDINALS}`,
      field: `row ${place % ORDINALS}`,
      stored: (there.get(place) ?? []).map(each => each || 'no row').join(' and ') || ABSENT,
      expected: id ?? ABSENT,
      by: 'replay',
    })
    if (id === undefined) await sides.corrections.unplace(place)
    else await putRow(sides, id)
  }
}

/** Stores the expected row again, with all its places. */
async function putRow({ scratch, corrections }: Sides, id: string): Promise<void> {
  const doc = await scratch.read(view => view.get(records, id))
  if (doc !== undefined) await corrections.put({ index: records, doc })
}

/** Keys of lists by their number. */
async function readListNames({ expected }: Sides, numbers: ReadonlySet<number>): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>()
  for await (const page of expected.scan(lists))
    for (const { doc } of page) if (doc !== undefined && numbers.has(doc.number)) names.set(doc.number, doc.id)
  return names
}
