import { DEFAULT_PLAN, PLAN_NAMES, PLANS } from '#keys/plan.ts'
import { DAY_MS } from '#time/units.ts'
import { choice, count, duration, durationOrNever, line } from './readers.ts'
import { flag, optional, withDefault } from './setting.ts'

/** Settings of the commands for API keys. */
export const keySettings = {
  plan: optional({
    reader: choice(...PLAN_NAMES),
    value: 'NAME',
    about: `Plan of the key: ${PLAN_NAMES.map(name => `${name} (${PLANS[name].perSecond} requests per second, ${PLANS[name].perDay} per day)`).join(', ')}. A new key without one is ${DEFAULT_PLAN}.`,
  }),
  'per-second': optional({
    reader: count(1, 1_000_000),
    value: 'N',
    about: 'Requests per second that the key may make, instead of those of its plan.',
  }),
  'per-day': optional({
    reader: count(1, 1_000_000_000_000),
    value: 'N',
    about: 'Requests per day (UTC) that the key may make, instead of those of its plan.',
  }),
  note: optional({
    reader: line,
    value: 'TEXT',
    about: 'Note about the key, such as its owner; off removes it. Callers never see it.',
  }),
  rename: optional({ reader: line, value: 'NAME', about: 'New name of the key.' }),
  expires: optional({
    reader: durationOrNever(1_000, 36_500 * DAY_MS),
    value: 'TIME',
    about: 'Validity of the key from now on, such as 90d, or never. Default for a new key: never.',
  }),
  grace: withDefault({
    reader: duration(0, 365 * DAY_MS),
    value: 'TIME',
    about: 'Time for which the former key keeps working after a rotation.',
    fallback: '24h',
  }),
  counts: flag('Print the requests of each key, today and in the last 30 days, and its last use.'),
} as const
