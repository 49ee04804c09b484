import { OPTION_VALUES } from '#actions/request/options.ts'
import { IGNORED } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import type { Exchange } from './exchange.ts'

const OPTIONS = Object.keys(OPTION_VALUES)

/** For paths without parameters of their own: refuses all parameters except the options of every call. */
export function refuseParameters({ query }: Pick<Exchange, 'query'>, path: string): void {
  const names = ['apikey', ...OPTIONS]
  for (const [name] of query)
    if (!OPTIONS.includes(name) && !IGNORED.includes(name))
      throw badRequest(
        {
          en: `Unknown parameter ${shown(name)}; ${path} takes ${names.join(', ')}.`,
          zh: `未知参数 ${shown(name)}；${path} 的参数为 ${names.join('、')}。`,
        },
        { parameter: 'apikey' },
      )
}
