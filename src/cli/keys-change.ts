import { Failure } from '#failure/failure.ts'
import type { Holder } from '#keys/holder.ts'
import { checkName, checkNote, nextKey } from '#keys/key.ts'
import { DEFAULT_PLAN, PLANS, type Plan } from '#keys/plan.ts'
import type { KeyTerms } from '#store/keys-port.ts'
import type { Store } from '#store/port.ts'
import type { Command } from './command.ts'
import { withStore } from './compose.ts'
import { formatKeyJson, formatKeyState, planText, readKeyUsage, timeText } from './keys-shown.ts'
import { onHolder, requireHolder } from './on-holder.ts'
import { LOGGING, STORE, type Values } from './settings.ts'

/** The plan in the settings, with its limits replaced by those that are set. */
export function resolvePlan(
  values: Pick<Values, 'plan' | 'per-second' | 'per-day'>,
  otherwise: Plan = PLANS[DEFAULT_PLAN],
): Plan {
  const named = values.plan === undefined ? otherwise : PLANS[values.plan]
  return { perSecond: values['per-second'] ?? named.perSecond, perDay: values['per-day'] ?? named.perDay }
}

/** Changes the terms of the given keys, some or all of a holder. */
async function changeAll(
  store: Store,
  keys: readonly Holder['current'][],
  terms: (now: KeyTerms) => KeyTerms,
): Promise<void> {
  for (const { id } of keys) await store.keys.change(id, terms)
}

export const keysShow: Command = {
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
      out(formatKeyJson(holder, asked, now))
      return 0
    }
    const { current, former, created } = holder
    const rest = former.filter(({ expires }) => expires === undefined || expires > now)
    const rows: readonly (readonly [string, string])[] = [
      ['Id', id],
      ['Name', current.name],
      ['Note', current.note ?? '-'],
      ['State', formatKeyState(holder, now)],
      ['Plan', planText(current)],
      ['Created', timeText(created)],
      ['Expires', current.expires === undefined ? 'never' : timeText(current.expires)],
      ['Former key', rest.map(({ expires }) => `works until ${timeText(expires ?? 0)}`).join(', ') || '-'],
      ['Requests', `${asked.today} today, ${asked.month} in 30 days`],
      ['Last use', asked.last === undefined ? '-' : timeText(asked.last)],
    ]
    for (const [title, text] of rows) out(`${`${title}:`.padEnd(12)}${text}`)
    return 0
  }),
}

export const keysChange: Command = {
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
  run: ({ values, words: [id = ''], log, out }) =>
    withStore(values, log, async store => {
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

export const keysRotate: Command = {
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
    const { key, stored } = nextKey(expires === 'never' ? { ...holder, current: withoutEnd(holder.current) } : holder, {
      now,
      ...(typeof expires === 'number' ? { expires: now + expires } : {}),
    })
    const until = now + values.grace
    await store.keys.add(stored)
    // The former keys are changed last: if the command is cut off before, they stay valid.
    await changeAll(store, [holder.current, ...holder.former], terms => ({
      ...terms,
      expires: Math.min(terms.expires ?? until, until),
    }))
    if (values.json) {
      out(JSON.stringify({ id, former_until: timeText(until), key }))
      return 0
    }
    out(`Key ${id} is replaced; the former key works until ${timeText(until)}.`)
    out('The new key is printed only this once:')
    out(key)
    return 0
  }),
}

const withoutEnd = ({ expires: _, ...key }: Holder['current']): Holder['current'] => key
