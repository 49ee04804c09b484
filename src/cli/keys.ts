import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { quoteGiven } from '#actions/request/refusals.ts'
import { writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { checkName, checkNote, createKey, createNextKey } from '#keys/key.ts'
import { groupHolders, type Holder } from '#keys/keyring.ts'
import { DEFAULT_PLAN, findPlanName, PLANS, type Plan } from '#keys/plan.ts'
import { type KeyTerms, USAGE_DAYS } from '#store/keys-port.ts'
import { createFile } from '#store/own-files.ts'
import type { Store } from '#store/port.ts'
import { storeExists } from '#store/servable.ts'
import { DAY_MS } from '#time/clock.ts'
import { copyKeys, formatKeys, parseKeys, readStoredKey } from '#transfer/keys.ts'
import { alignColumns, type Command, type ExitCode } from './command.ts'
import { defineStoreRun, requireExisting, type StoreCall, withStore } from './compose.ts'
import { LOGGING, STORE, type Values } from './settings.ts'

const MONTH_DAYS = 30

/** Requests in this UTC day and in 30 days including it, and the time of the last one in the days kept. */
type KeyUsage = { readonly today: number; readonly month: number; readonly last?: number }

const NOTHING: KeyUsage = { today: 0, month: 0 }

/** The use of each key by its id, counted by all services on the store. */
async function readKeyUsage(store: Store, now: number): Promise<(id: string) => KeyUsage> {
  const today = Math.floor(now / DAY_MS)
  const usage = new Map<string, KeyUsage>()
  for (const { key, day, requests, last } of await store.usage.since(today - USAGE_DAYS)) {
    const earlier = usage.get(key) ?? NOTHING
    usage.set(key, {
      today: earlier.today + (day === today ? requests : 0),
      month: earlier.month + (day > today - MONTH_DAYS ? requests : 0),
      last: Math.max(earlier.last ?? 0, last),
    })
  }
  return id => usage.get(id) ?? NOTHING
}

function formatKeyState({ revoked, current: { expires } }: Holder, now: number): string {
  if (revoked !== undefined) return `revoked ${timeText(revoked)}`
  return expires !== undefined && expires <= now ? 'expired' : 'valid'
}

const timeText = (ms: number): string => new Date(ms).toISOString()

const formatValidity = (expires: number | undefined): string =>
  expires === undefined ? 'until it is revoked' : `until ${timeText(expires)}`

const listUsableKeys = (keys: readonly Holder['current'][], now: number): readonly Holder['current'][] =>
  keys.filter(({ expires }) => expires === undefined || expires > now)

function planText(plan: Holder['current']): string {
  const name = findPlanName(plan)
  const figures = `${plan.perSecond} requests per second, ${plan.perDay} per day`
  return name === undefined ? figures : `${figures} (plan ${name})`
}

function toKeyShape(holder: Holder, { today, month, last }: KeyUsage, now: number) {
  const { id, current, former, created, revoked } = holder
  const time = (ms: number | undefined) => (ms === undefined ? null : timeText(ms))
  return {
    id,
    name: current.name,
    note: current.note ?? null,
    state: revoked === undefined ? formatKeyState(holder, now) : 'revoked',
    plan: findPlanName(current) ?? null,
    per_second: current.perSecond,
    per_day: current.perDay,
    created: timeText(created),
    rotated: former.length === 0 ? null : timeText(current.created),
    expires: time(current.expires),
    revoked: time(revoked),
    // null: until the key is revoked, after a rotate that was cut off.
    former_until: listUsableKeys(former, now).map(({ expires }) => time(expires)),
    requests_today: today,
    requests_30_days: month,
    last_used: time(last),
  }
}

/** The call of a command whose argument is the id of a key. */
type HolderCall = StoreCall & { readonly id: string; readonly holder: Holder }

/** Runs a command on the holder with an id. Throws 'not_found' when there is none. */
const onHolder = (work: (call: HolderCall) => Promise<ExitCode>): Command['run'] =>
  defineStoreRun(async call => {
    const [id = ''] = call.words
    return work({ ...call, id, holder: await requireHolder(call.store, id) })
  })

/** The holder with this id. Throws 'not_found'. */
async function requireHolder(store: Store, id: string): Promise<Holder> {
  await requireExisting(store)
  const holder = groupHolders(await store.keys.list()).find(each => each.id === id)
  if (holder === undefined)
    throw new Failure('not_found', `There is no key with the id ${quoteGiven(id)}.`, {
      help: "'iostlens keys list' prints the ids.",
    })
  return holder
}

/** The plan in the settings, with its limits replaced by those that are set. */
function resolvePlan(
  values: Pick<Values, 'plan' | 'per-second' | 'per-day'>,
  otherwise: Plan = PLANS[DEFAULT_PLAN],
): Plan {
  const named = values.plan === undefined ? otherwise : PLANS[values.plan]
  return { perSecond: values['per-second'] ?? named.perSecond, perDay: values['per-day'] ?? named.perDay }
}

async function changeAll(
  store: Store,
  keys: readonly Holder['current'][],
  terms: (now: KeyTerms) => KeyTerms,
): Promise<void> {
  for (const { id } of keys) await store.keys.change(id, terms)
}

const keysShow: Command = {
  name: 'keys show',
  words: ['ID'],
  summary: 'show one API key: plan, note, times, requests and last use',
  about: [
    'Prints the stored data of the key with this id; the key itself is stored nowhere.',
    'Requests and last use are counted by all services on the store; they are at most a second old.',
  ],
  settings: [...STORE, 'json', ...LOGGING],
  examples: ['iostlens keys show 3f9a1c20de'],
  run: onHolder(async ({ values, out, store, id, holder }) => {
    const now = Date.now()
    const asked = (await readKeyUsage(store, now))(id)
    if (values.json) {
      out(writeJson(toKeyShape(holder, asked, now)))
      return 0
    }
    const { current, former, created } = holder
    const rest = listUsableKeys(former, now)
    const rows: readonly (readonly [string, string])[] = [
      ['Id', id],
      ['Name', current.name],
      ['Note', current.note ?? '-'],
      ['State', formatKeyState(holder, now)],
      ['Plan', planText(current)],
      ['Created', timeText(created)],
      ['Expires', current.expires === undefined ? 'never' : timeText(current.expires)],
      ['Former key', rest.map(({ expires }) => `works ${formatValidity(expires)}`).join(', ') || '-'],
      ['Requests', `${asked.today} today, ${asked.month} in 30 days`],
      ['Last use', asked.last === undefined ? '-' : timeText(asked.last)],
    ]
    for (const [title, text] of rows) out(`${`${title}:`.padEnd(12)}${text}`)
    return 0
  }),
}

const keysChange: Command = {
  name: 'keys change',
  words: ['ID'],
  summary: 'change the plan, name, note or validity of an API key; no restart is needed',
  about: [
    'Changes the given properties and nothing else. Running services follow within two seconds.',
    'The key and its counts stay as they are.',
  ],
  settings: [...STORE, 'plan', 'per-second', 'per-day', 'rename', 'note', 'expires', ...LOGGING],
  examples: [
    'iostlens keys change 3f9a1c20de --plan large',
    'iostlens keys change 3f9a1c20de --per-day 500000 --note "Ada, explorer"',
  ],
  run: defineStoreRun(async ({ values, words: [id = ''], out, store }) => {
    const { rename, note, expires } = values
    const given = [values.plan, values['per-second'], values['per-day'], rename, note, expires]
    if (given.every(value => value === undefined))
      throw new Failure('usage', 'No change is given.', {
        help: 'Give at least one of --plan, --per-second, --per-day, --rename, --note and --expires.',
      })
    if (rename !== undefined) checkName(rename)
    if (note !== undefined) checkNote(note)
    const { current, former } = await requireHolder(store, id)
    await changeAll(store, [current, ...former], ({ note: had, ...now }) => {
      const left = note === 'off' ? undefined : (note ?? had)
      const named = { ...now, name: rename ?? now.name, ...resolvePlan(values, now) }
      return left === undefined ? named : { ...named, note: left }
    })
    if (expires !== undefined)
      await changeAll(store, [current], ({ expires: _, ...now }) =>
        expires === 'never' ? now : { ...now, expires: Date.now() + expires },
      )
    out(`Changed key ${id}.`)
    return 0
  }),
}

const keysRotate: Command = {
  name: 'keys rotate',
  words: ['ID'],
  summary: 'replace an API key by a new one; the former key keeps working for a while',
  about: [
    'Creates a new key with the id, plan and counts of the former one, which keeps working for the time of --grace; with 0s it ends at once.',
    'The last line on stdout is the new key. It cannot be printed again.',
  ],
  settings: [...STORE, 'grace', 'expires', 'json', ...LOGGING],
  examples: ['iostlens keys rotate 3f9a1c20de --grace 7d'],
  run: onHolder(async ({ values, out, store, id, holder }) => {
    const now = Date.now()
    const { expires } = values
    const { expires: _, ...endless } = holder.current
    const { key, stored } = createNextKey(expires === 'never' ? { ...holder, current: endless } : holder, {
      now,
      ...(typeof expires === 'number' ? { expires: now + expires } : {}),
    })
    const graceEnd = now + values.grace
    // A key that expires earlier is not prolonged.
    const findEnd = (own: number | undefined): number => Math.min(own ?? graceEnd, graceEnd)
    await store.keys.add(stored)
    // The former keys are changed last: if the command is cut off before, they stay valid.
    await changeAll(store, [holder.current, ...holder.former], terms => ({
      ...terms,
      expires: findEnd(terms.expires),
    }))
    const until = timeText(findEnd(holder.current.expires))
    if (values.json) {
      out(JSON.stringify({ id, former_until: until, key }))
      return 0
    }
    out(`Key ${id} is replaced; the former key works until ${until}.`)
    out('The new key is printed only this once:')
    out(key)
    return 0
  }),
}

const keysAdd: Command = {
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
    return withStore({ values, log }, async store => {
      const isNew = !(await storeExists(store))
      await store.create()
      await store.keys.add(stored)
      if (values.json) {
        const { name, perSecond, perDay } = stored
        out(JSON.stringify({ id: stored.id, name, per_second: perSecond, per_day: perDay, key }))
        return 0
      }
      if (isNew) out(`Created the store ${store.name}: it did not exist.`)
      out(`Key ${stored.id} of ${quoteGiven(name)} in ${store.name}`)
      out(
        `${plan.perSecond} requests per second, ${plan.perDay} per day, valid ${formatValidity(stored.expires)}. The key is printed only this once:`,
      )
      out(key)
      return 0
    })
  },
}

const keysList: Command = {
  name: 'keys list',
  summary: 'list all API keys with their limits; never the keys themselves',
  about: [
    'Prints every key, including revoked and expired ones: id, name, limits, times and state.',
    'With --counts also the requests of today and of 30 days and the last use, as all services on the store have counted them.',
  ],
  settings: [...STORE, 'counts', 'json', ...LOGGING],
  examples: ['iostlens keys list', 'iostlens keys list --counts'],
  run: defineStoreRun(async ({ values, out, store }) => {
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
    const rows = holders.map(holder => {
      const { id, current, created } = holder
      const usage = asked?.(id)
      return [
        id,
        String(current.perSecond),
        String(current.perDay),
        timeText(created),
        current.expires === undefined ? '-' : timeText(current.expires),
        ...(usage === undefined
          ? []
          : [String(usage.today), String(usage.month), usage.last === undefined ? '-' : timeText(usage.last)]),
        formatKeyState(holder, now),
        current.name,
      ]
    })
    for (const line of alignColumns([head, ...rows])) out(line)
    return 0
  }),
}

const keysRevoke: Command = {
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

const keysExport: Command = {
  name: 'keys export',
  words: ['FILE'],
  summary: 'write all API keys, as hashes, to a file; also from a damaged store',
  about: [
    'Writes every key, a line of JSON each, to FILE, which must not exist yet. The file has what the store has: id, hash, name, note, plan and times. Keys are the one thing in a store that cannot be loaded again.',
    'From a damaged embedded store the keys that can be read are written; if some cannot, the command says so and ends with exit code 3.',
    'Counts of requests are not written.',
  ],
  settings: [...STORE, ...LOGGING],
  examples: ['iostlens keys export keys.ndjson', 'iostlens keys export keys.ndjson --store sqlite:damaged.sqlite'],
  run: defineStoreRun(async ({ words: [file = ''], out, store }) => {
    if (existsSync(file))
      throw new Failure('usage', `${quoteGiven(file)} exists; an export replaces no file.`, {
        help: 'Name a file that does not exist yet.',
      })
    const { keys: found, isWhole: isAll } = await store.keys.salvage()
    const keys = found.filter(key => readStoredKey(key) !== undefined)
    const isWhole = isAll && keys.length === found.length
    createFile(file)
    writeFileSync(file, formatKeys({ keys, isWhole }))
    out(`Wrote ${keys.length} API keys of ${store.name} to ${file}.`)
    if (isWhole) return 0
    out('Others could not be read, because the store is damaged.')
    return 3
  }),
}

const keysImport: Command = {
  name: 'keys import',
  words: ['FILE'],
  summary: 'add the API keys of a file that keys export wrote; no restart is needed',
  about: [
    'Adds the keys of FILE with their ids, plans and times. A key that the store has gets the terms of the file; one that is revoked in either of them stays revoked. It may be repeated.',
    'A store that does not exist is created.',
  ],
  settings: [...STORE, 'replicas', ...LOGGING],
  examples: ['iostlens keys import keys.ndjson'],
  run: ({ values, words: [file = ''], log, out }) => {
    const { keys, isWhole } = parseKeys(readFileSync(file, 'utf8'), file)
    return withStore({ values, log }, async store => {
      await store.create()
      await copyKeys({ keys: { list: async () => keys } }, store)
      out(`${store.name} has the ${keys.length} API keys of ${file}.`)
      if (!isWhole) out('The file was written from a damaged store: it may lack keys.')
      return 0
    })
  },
}

/** The commands of API keys, in the order of the help. */
export const keyCommands: readonly Command[] = [
  keysAdd,
  keysList,
  keysShow,
  keysChange,
  keysRotate,
  keysRevoke,
  keysExport,
  keysImport,
]
