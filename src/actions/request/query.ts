import { badRequest, shown } from './refusals.ts'

/** Decoded pairs of the query string in order; the API key is already taken out. */
export type Query = readonly (readonly [name: string, value: string])[]

/** Cache busters of browsers and old clients: accepted everywhere, never read. */
export const IGNORED: readonly string[] = ['_', 't', 'timestamp']

/** Names known to every action. */
export const COMMON: readonly string[] = ['module', 'action', 'lang', 'format', 'compat', 'numbers']

/** The one value of a parameter; undefined when absent. A parameter given twice is refused, also with equal values. */
export const oneOf = (query: Query, name: string): string | undefined => {
  const values = query.filter(([key]) => key === name)
  if (values.length > 1)
    throw badRequest(
      {
        en: `Parameter ${shown(name)} is given ${values.length} times; give it once.`,
        zh: `参数 ${shown(name)} 出现了 ${values.length} 次，只能提供一次。`,
      },
      { parameter: name },
    )
  return values[0]?.[1]
}
