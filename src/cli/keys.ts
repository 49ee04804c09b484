import { shown } from '#actions/request/refusals.ts'
import { writeJson } from '#chain/json.ts'
import { groupHolders, type Holder } from '#keys/holder.ts'
import { createKey } from '#keys/key.ts'
import { exists } from '#store/absent-store.ts'
import { aligned } from './aligned.ts'
import type { Command } from './command.ts'
import { requireExisting, withStore } from './compose.ts'
import { resolvePlan } from './keys-change.ts'
import { formatKeyState, type KeyUsage, readKeyUsage, timeText, toKeyShape } from './keys-shown.ts'
import { onHolder } from './on-holder.ts'
import { LOGGING, STORE } from './settings.ts'

export const keysAdd: Command = {
  name: 'keys add',
  words: ['NAME'],
  summary: 'create an API key; the last line printed is the key, shown only this once',
  about: [
    'Creates a random API key with rate limits of its own and stores its hash. The key works at once; no restart is needed.',
    'The last line on stdout is the key. It cannot be printed again.',
    'A store that does not exist is created, so that keys can be added before the first load; the output then says so.',
  ],
  settings: [...STORE, 'replicas', 'plan', 'per-second', 'per-day', 'note', 'expires', 'json', ...LOGGING],
  examples: [
    'iostlens keys add wallet',
    'iostlens keys add wallet --plan large --note "Ada, explorer"',
    'iostlens keys add wallet --per-second 50 --expires 90d',
  ],
  run: async ({ values, words: [name = ''], log, out }) => {
    const now = Date.now()
    const plan = resolvePlan(values)
    const { note, expires } = values
    const { key, stored } = createKey(name, plan, {
      now,
      ...(typeof expires === 'number' ? { expires: now + expires } : {}),
      ...(note === undefined || note === 'off' ? {} : { note }),
    })
    return withStore(values, log, async store => {
      const isNew = !(await exists(store))
      await store.create()
      await store.keys.add(stored)
      if (values.json) {
        const { name, perSecond, perDay } = stored
        out(JSON.stringify({ id: stored.id, name, per_second: perSecond, per_day: perDay, key }))
        return 0
      }
      if (isNew) out(`Created the store ${store.name}: it did not exist.`)
      const until = stored.expires === undefined ? 'until it is revoked' : `until ${timeText(stored.expires)}`
      out(`Key ${stored.id} of ${shown(name)} in ${store.name}`)
      out(
        `${plan.perSecond} requests per second, ${plan.perDay} per day, valid ${until}. The key is printed only this once:`,
      )
      out(key)
      return 0
    })
  },
}

export const keysList: Command = {
  name: 'keys list',
  summary: 'list all API keys with their limits; never the keys themselves',
  about: [
    'Prints every key, including revoked and expired ones: id, name, limits, times and state.',
    'With --counts also the requests of today and of 30 days and the last use, as all services on the store have counted them.',
  ],
  settings: [...STORE, 'counts', 'json', ...LOGGING],
  examples: ['iostlens keys list', 'iostlens keys list --counts'],
  run: ({ values, log, out }) =>
    withStore(values, log, async store => {
      await requireExisting(store)
      const holders = groupHolders(await store.keys.list())
      const now = Date.now()
      const asked = values.counts || values.json ? await readKeyUsage(store, now) : undefined
      if (values.json && asked !== undefined) {
        out(writeJson({ keys: holders.map(holder => toKeyShape(holder, asked(holder.id), now)) }))
        return 0
      }
      const counted = asked === undefined ? [] : ['TODAY', '30 DAYS', 'LAST USE']
      const head = ['ID', 'PER SECOND', 'PER DAY', 'CREATED', 'EXPIRES', ...counted, 'STATE', 'NAME']
      for (const line of aligned([head, ...holders.map(holder => toKeyRow(holder, now, asked?.(holder.id)))])) out(line)
      return 0
    }),
}

export const keysRevoke: Command = {
  name: 'keys revoke',
  words: ['ID'],
  summary: 'revoke an API key; no restart is needed',
  about: [
    "Revokes the key with this id; 'iostlens keys list' prints the ids. Running services reject the key after about a second.",
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens keys revoke 3f9a1c20de'],
  run: onHolder(async ({ out, store, id, holder: { current, former } }) => {
    const now = Date.now()
    // The holder is refused as soon as one of its keys is revoked.
    for (const key of [current, ...former]) await store.keys.revoke(key.id, now)
    out(`Revoked key ${id}.`)
    return 0
  }),
}

const toKeyRow = (holder: Holder, now: number, usage: KeyUsage | undefined): readonly string[] => [
  holder.id,
  String(holder.current.perSecond),
  String(holder.current.perDay),
  timeText(holder.created),
  holder.current.expires === undefined ? '-' : timeText(holder.current.expires),
  ...(usage === undefined
    ? []
    : [String(usage.today), String(usage.month), usage.last === undefined ? '-' : timeText(usage.last)]),
  formatKeyState(holder, now),
  holder.current.name,
]
