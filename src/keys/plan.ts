/** How much a key may ask: requests in one second and in one UTC day, both whole numbers from 1. */
export type Plan = { readonly perSecond: number; readonly perDay: number }

/** Plans by name, for keys that are given no figures of their own. */
export const PLANS = {
  /** A hobby or a trial. */
  small: { perSecond: 5, perDay: 10_000 },
  /** A busy wallet or explorer page. */
  standard: { perSecond: 20, perDay: 200_000 },
  /** A service with many users of its own. */
  large: { perSecond: 100, perDay: 2_000_000 },
} as const satisfies Readonly<Record<string, Plan>>

export type PlanName = keyof typeof PLANS
export const PLAN_NAMES = Object.keys(PLANS) as readonly PlanName[]

/** Plan of a key that is added without one. */
export const DEFAULT_PLAN = 'standard' satisfies PlanName

/** The name of a plan with these figures; undefined: they are a key's own. */
export const planNameOf = ({ perSecond, perDay }: Plan): PlanName | undefined =>
  PLAN_NAMES.find(name => PLANS[name].perSecond === perSecond && PLANS[name].perDay === perDay)

/** Plan of the shared test key: enough to click through the reference, too little to build on. */
export const TEST_PLAN: Plan = PLANS.small
