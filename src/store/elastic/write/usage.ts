import { parseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { type KeyDay, USAGE_DAYS, type Usage } from '#store/keys-port.ts'
import { isAbsent } from '../../servable.ts'
import { isMissingIndex, readFailure, requestHits, requestText, toSearch } from '../client/request.ts'
import { awaitStarted, checkIndices, createIndex } from '../schema/create-indices.ts'
import { usageShape } from '../schema/mappings.ts'
import type { Cluster } from '../schema/names.ts'

/** A process's document of a day, and the last known documents of other processes. */
type OwnDay = {
  readonly process: string
  readonly day: number
  counted: readonly KeyDay[]
  version: number
  others: readonly KeyDay[]
}
type UsageHit = {
  readonly _id: string
  readonly _source: { readonly day: number; readonly body: string }
  readonly sort: readonly unknown[]
}

const PAGE = 1_000
/** Counts that arrive later are of little use: the next ones include them. */
const TIMEOUT_MS = 5_000

/**
 * Counts in their own index, one document per process and day. A process writes only its own documents, as a
 * whole and with its own versions. So a write whose answer was lost may be repeated without double counting,
 * and the counts of a killed process are preserved.
 */
export function openElasticUsage(cluster: Cluster): Usage {
  let own: OwnDay | undefined
  const write = async (next: OwnDay): Promise<void> => {
    try {
      await putDay(cluster, next)
    } catch (error) {
      if (!isMissingIndex(error)) throw error
      const { names } = cluster
      // The prefix may be mistyped.
      if (isAbsent(await checkIndices(cluster)))
        throw new Failure('unavailable', `There is no store ${names.prefix} to count for.`)
      await createIndex(cluster, { name: names.behind('usage'), shape: usageShape, aliases: [names.served('usage')] })
      await putDay(cluster, next)
    }
  }
  return {
    add: async (day, counts, at) => {
      // Each day gets a random process name: a clock that goes back leaves the day's first document unchanged.
      if (own?.day !== day)
        own = { process: crypto.getRandomValues(new Uint8Array(8)).toHex(), day, counted: [], version: 0, others: [] }
      const mine = own
      if (counts.size > 0) {
        const added = [...counts].map(([key, requests]) => ({ day, key, requests, last: at }))
        const counted = mergeDays([...mine.counted, ...added])
        mine.version += 1
        await write({ ...mine, counted })
        mine.counted = counted
        // Runs once a day; the next process removes the remaining documents, of which there is one per process.
        if (mine.version === 1) await forgetDays(cluster, day - USAGE_DAYS).catch(() => undefined)
      }
      mine.others = await readUsageDays(cluster, {
        filter: [{ term: { day } }],
        must_not: [{ ids: { values: [formatDayId(mine)] } }],
      }).catch((cause: unknown) => {
        // The requests are stored already; the last known counts of the others are the best available.
        if (counts.size === 0) throw cause
        return mine.others
      })
      const sums = mergeDays([...mine.counted, ...mine.others])
      return new Map(sums.map(({ key, requests }) => [key, requests]))
    },
    since: async day => mergeDays(await readUsageDays(cluster, { filter: [{ range: { day: { gte: day } } }] })),
    close: async () => {},
  }
}

function formatDayId({ day, process }: Pick<OwnDay, 'day' | 'process'>): string {
  return `${day}-${process}`
}

async function putDay({ connection, names }: Cluster, own: OwnDay): Promise<void> {
  const index = names.served('usage')
  const what = `write ${index}`
  const body = JSON.stringify(own.counted.map(({ key, requests, last }) => [key, requests, last]))
  const answer = await requestText(connection, {
    what,
    method: 'PUT',
    path: `/${index}/_doc/${formatDayId(own)}`,
    query: { version: String(own.version), version_type: 'external', refresh: 'true', require_alias: 'true' },
    timeoutMs: TIMEOUT_MS,
    body: JSON.stringify({ day: own.day, process: own.process, body }),
    // 409: an earlier attempt of this same write, whose answer was lost.
    acceptedStatuses: [404, 409],
  })
  if (answer.status === 404) throw readFailure({ connection, what }, answer)
}

async function readUsageDays(cluster: Cluster, bool: object): Promise<readonly KeyDay[]> {
  const found: KeyDay[] = []
  for (let after: readonly unknown[] | undefined; ; ) {
    const page = await searchPage(cluster, { bool, after })
    for (const { _source } of page)
      for (const [key, requests, last] of parseJson(_source.body) as readonly [string, number, number][])
        found.push({ day: _source.day, key, requests, last })
    after = page.at(-1)?.sort
    if (page.length < PAGE || after === undefined) return found
  }
}

function searchPage(
  { connection, names, clock }: Cluster,
  { bool, after }: { readonly bool: object; readonly after?: readonly unknown[] | undefined },
): Promise<readonly UsageHit[]> {
  const index = names.served('usage')
  const sorted = (type: string) => ({ order: 'asc', unmapped_type: type })
  const search = {
    size: PAGE,
    query: { bool },
    search_after: after,
    sort: [{ day: sorted('long') }, { process: sorted('keyword') }],
  }
  // Before the first count there is no index; another process may just have created it.
  const how = { query: { ignore_unavailable: 'true' }, timeoutMs: TIMEOUT_MS }
  return awaitStarted(() => requestHits<UsageHit>(connection, toSearch(index, search, how)), clock)
}

async function forgetDays(cluster: Cluster, day: number): Promise<void> {
  const { connection, names } = cluster
  const index = names.served('usage')
  const what = `write ${index}`
  const old = await searchPage(cluster, { bool: { filter: [{ range: { day: { lt: day } } }] } })
  if (old.length === 0) return
  await requestText(connection, {
    what,
    path: `/${index}/_bulk`,
    query: { refresh: 'true' },
    timeoutMs: TIMEOUT_MS,
    body: old.map(({ _id }) => `${JSON.stringify({ delete: { _id } })}\n`).join(''),
  })
}

function mergeDays(found: readonly KeyDay[]): readonly KeyDay[] {
  const all = new Map<string, KeyDay>()
  for (const each of found) {
    const name = `${each.day} ${each.key}`
    const { requests = 0, last = each.last } = all.get(name) ?? {}
    all.set(name, { ...each, requests: requests + each.requests, last: Math.max(last, each.last) })
  }
  return [...all.values()]
}
