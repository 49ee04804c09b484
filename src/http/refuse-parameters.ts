import { OPTION_VALUES } from '#actions/request/options.ts'
import { IGNORED } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import type { Exchange } from './exchange.ts'

/** For paths without parameters of their own: only what every call of this service knows is let pass. */
export const refuseParameters = ({ query }: Pick<Exchange, 'query'>, path: string): void => {
  const known = [...Object.keys(OPTION_VALUES), ...IGNORED]
  for (const [name] of query)
    if (!known.includes(name))
      throw badRequest(
        {
          en: `Unknown parameter ${shown(name)}; ${path} takes only 'apikey'.`,
          zh: `未知参数 ${shown(name)}；${path} 只接受 'apikey'。`,
        },
        { parameter: 'apikey' },
      )
}
