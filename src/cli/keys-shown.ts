import { writeJson } from '#chain/json.ts'
import { groupHolders, type Holder } from '#keys/holder.ts'
import { findPlanName } from '#keys/plan.ts'
import { type KeyDay, USAGE_DAYS } from '#store/keys-port.ts'
import type { Store } from '#store/port.ts'
import { DAY_MS } from '#time/units.ts'

const MONTH_DAYS = 30

/**
 * The use of a key: requests in this UTC day and in 30 days including it, and the time of the last one in the
 * days kept.
 */
export type KeyUsage = { readonly today: number; readonly month: number; readonly last?: number }

const NOTHING: KeyUsage = { today: 0, month: 0 }

/** The use of each key by its id, counted by all services on the store. */
export async function readKeyUsage(store: Store, now: number): Promise<(id: string) => KeyUsage> {
  const today = Math.floor(now / DAY_MS)
  const usage = new Map<string, KeyUsage>()
  for (const one of await store.usage.since(today - USAGE_DAYS))
    usage.set(one.key, added(usage.get(one.key) ?? NOTHING, one, today))
  return id => usage.get(id) ?? NOTHING
}

const added = (usage: KeyUsage, { day, requests, last }: KeyDay, today: number): KeyUsage => ({
  today: usage.today + (day === today ? requests : 0),
  month: usage.month + (day > today - MONTH_DAYS ? requests : 0),
  last: Math.max(usage.last ?? 0, last),
})

/** The holder with this id, or undefined. */
export const findHolder = async (store: Store, id: string): Promise<Holder | undefined> =>
  groupHolders(await store.keys.list()).find(holder => holder.id === id)

export function formatKeyState({ revoked, current: { expires } }: Holder, now: number): string {
  if (revoked !== undefined) return `revoked ${timeText(revoked)}`
  return expires !== undefined && expires <= now ? 'expired' : 'valid'
}

export const timeText = (ms: number): string => new Date(ms).toISOString()

export function planText(plan: Holder['current']): string {
  const name = findPlanName(plan)
  const figures = `${plan.perSecond} requests per second, ${plan.perDay} per day`
  return name === undefined ? figures : `${figures} (plan ${name})`
}

/** All data of a key as JSON. */
export const formatKeyJson = (holder: Holder, usage: KeyUsage, now: number): string =>
  writeJson(toKeyShape(holder, usage, now))

export function toKeyShape(holder: Holder, { today, month, last }: KeyUsage, now: number) {
  const { id, current, former, created, revoked } = holder
  const time = (ms: number | undefined) => (ms === undefined ? null : timeText(ms))
  return {
    id,
    name: current.name,
    note: current.note ?? null,
    state: revoked !== undefined ? 'revoked' : formatKeyState(holder, now),
    plan: findPlanName(current) ?? null,
    per_second: current.perSecond,
    per_day: current.perDay,
    created: timeText(created),
    rotated: former.length === 0 ? null : timeText(current.created),
    expires: time(current.expires),
    revoked: time(revoked),
    former_until: former.flatMap(({ expires }) => ((expires ?? 0) > now ? timeText(expires ?? 0) : [])),
    requests_today: today,
    requests_30_days: month,
    last_used: time(last),
  }
}
