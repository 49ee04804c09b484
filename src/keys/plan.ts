/** Rate limits of a key: requests in one second and in one UTC day, both integers from 1. */
export type Plan = { readonly perSecond: number; readonly perDay: number }

/** Plans by name, for keys without limits of their own. */
export const PLANS = {
  /** A hobby or a trial. */
  small: { perSecond: 5, perDay: 10_000 },
  /** A busy wallet or explorer page. */
  standard: { perSecond: 20, perDay: 200_000 },
  /** A service with many users of its own. */
  large: { perSecond: 100, perDay: 2_000_000 },
} as const satisfies Readonly<Record<string, Plan>>

type PlanName = keyof typeof PLANS
export const PLAN_NAMES = Object.keys(PLANS) as readonly PlanName[]

/** Default plan of a new key. */
export const DEFAULT_PLAN = 'standard' satisfies PlanName

/** The name of the plan with these limits; undefined: the key has limits of its own. */
export const findPlanName = ({ perSecond, perDay }: Plan): PlanName | undefined =>
  PLAN_NAMES.find(name => PLANS[name].perSecond === perSecond && PLANS[name].perDay === perDay)

/** Plan of the shared test key: enough to click through the reference, too little for an application. */
export const TEST_PLAN: Plan = PLANS.small
