import { badRequest, shown } from './refusals.ts'

/** Decoded pairs of the query string in order; the API key is already taken out. */
export type Query = readonly (readonly [name: string, value: string])[]

/** Cache busters of browsers and old clients: accepted everywhere, never read. */
export const IGNORED: readonly string[] = ['_', 't', 'timestamp']

/** Names known to every action. */
export const COMMON: readonly string[] = ['module', 'action', 'lang', 'format', 'compat', 'numbers']

/** The one value of a parameter; undefined when absent. A parameter given twice is refused, also with equal values. */
export const oneOf = (query: Query, name: string): string | undefined => {
  let found: string | undefined
  for (const [key, value] of query) {
    if (key !== name) continue
    if (found !== undefined) throw repeated(name, query)
    found = value
  }
  return found
}

const repeated = (name: string, query: Query) => {
  const times = query.filter(([key]) => key === name).length
  return badRequest(
    {
      en: `Parameter ${shown(name)} is given ${times} times; give it once.`,
      zh: `参数 ${shown(name)} 出现了 ${times} 次，只能提供一次。`,
    },
    { parameter: name },
  )
}
