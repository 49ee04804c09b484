import { shown } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import { createKey } from '#keys/key.ts'
import type { StoredKey } from '#store/port.ts'
import { aligned } from './aligned.ts'
import type { Command } from './command.ts'
import { exists, requireExisting, withStore } from './compose.ts'
import { LOGGING, STORE } from './setting-groups.ts'

export const keysAdd: Command = {
  name: 'keys add',
  words: ['NAME'],
  summary: 'create an API key; the last line of the output is the key, printed only this once',
  about: [
    'Creates a random API key with rate limits of its own and stores its hash. The key works at once; no restart is needed.',
    'The last line on stdout is the key. It cannot be printed again.',
    'A store that does not exist is created, so that keys can be added before the first load; the output then says so.',
  ],
  settings: [...STORE, 'replicas', 'per-second', 'per-day', 'expires', ...LOGGING],
  examples: ['iostlens keys add wallet', 'iostlens keys add wallet --per-second 50 --expires 90d'],
  run: async ({ values, words: [name = ''], log, out }) => {
    const now = Date.now()
    const plan = { perSecond: values['per-second'], perDay: values['per-day'] }
    const { key, stored } = createKey(name, plan, {
      now,
      ...(values.expires === undefined ? {} : { expires: now + values.expires }),
    })
    return withStore(values, log, async store => {
      const isNew = !(await exists(store))
      await store.create()
      await store.keys.add(stored)
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
  words: [],
  summary: 'list all API keys with their limits; never the keys themselves',
  about: ['Prints every key, including revoked and expired ones: id, name, limits, times and state.'],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens keys list'],
  run: ({ values, log, out }) =>
    withStore(values, log, async store => {
      await requireExisting(store)
      const keys = await store.keys.list()
      const head = ['ID', 'PER SECOND', 'PER DAY', 'CREATED', 'EXPIRES', 'STATE', 'NAME']
      for (const line of aligned([head, ...keys.map(key => rowOf(key, Date.now()))])) out(line)
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
  run: ({ values, words: [id = ''], log, out }) =>
    withStore(values, log, async store => {
      await requireExisting(store)
      if (!(await store.keys.revoke(id, Date.now())))
        throw new Failure('not_found', `There is no key with the id ${shown(id)}.`, {
          help: "'iostlens keys list' prints the ids.",
        })
      out(`Revoked key ${id}.`)
      return 0
    }),
}

const rowOf = (key: StoredKey, now: number): readonly string[] => [
  key.id,
  String(key.perSecond),
  String(key.perDay),
  timeText(key.created),
  key.expires === undefined ? '-' : timeText(key.expires),
  stateOf(key, now),
  key.name,
]

const stateOf = ({ revoked, expires }: StoredKey, now: number): string => {
  if (revoked !== undefined) return `revoked ${timeText(revoked)}`
  return expires !== undefined && expires <= now ? 'expired' : 'valid'
}

const timeText = (ms: number): string => new Date(ms).toISOString()
