import type { Action } from '#actions/define.ts'

/** Stands where the caller's key goes. */
const KEY_PLACEHOLDER = 'YOUR_API_KEY'

/** URL of an action's example call, relative to the service. */
export const exampleUrl = ({ module, action, example }: Action, key = KEY_PLACEHOLDER): string => {
  const parameters = new URLSearchParams({ apikey: key, module, action, ...example })
  return `/api/?${parameters.toString()}`
}
