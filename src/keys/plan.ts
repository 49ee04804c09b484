/** How much a key may ask: requests in one second and in one UTC day, both whole numbers from 1. */
export type Plan = { readonly perSecond: number; readonly perDay: number }

/** Plan of a key that is added without figures: a busy wallet or explorer page. */
export const DEFAULT_PLAN: Plan = { perSecond: 20, perDay: 200_000 }

/** Plan of the shared test key: enough to click through the reference, too little to build on. */
export const TEST_PLAN: Plan = { perSecond: 5, perDay: 10_000 }
