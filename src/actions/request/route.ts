import type { Action } from '../define.ts'
import { oneOf, type Query } from './query.ts'
import { badRequest, nearest, nearestText, shown } from './refusals.ts'

/** Actions by module and name; made once for each registry. */
const known = new WeakMap<readonly Action[], ReadonlyMap<string, Action>>()

const byName = (actions: readonly Action[]): ReadonlyMap<string, Action> => {
  const found = known.get(actions)
  if (found !== undefined) return found
  const made = new Map(actions.map(action => [`${action.module} ${action.action}`, action]))
  known.set(actions, made)
  return made
}

/** The action that `module` and `action` name, letter case ignored. Throws 'bad_request' with the nearest name. */
export const routeFor = (query: Query, actions: readonly Action[]): Action => {
  const asked = `${oneOf(query, 'module')} ${oneOf(query, 'action')}`.toLowerCase()
  return byName(actions).get(asked) ?? refusedRoute(query, actions)
}

/** Says what is wrong with a module or an action that names none. */
const refusedRoute = (query: Query, actions: readonly Action[]): never => {
  const modules = [...new Set(actions.map(({ module }) => module))]
  const module = named('module', oneOf(query, 'module'), modules)
  const wanted = oneOf(query, 'action')
  const own = actions.filter(action => action.module === module)
  const owners = actions.filter(({ action }) => action === wanted?.toLowerCase()).map(one => one.module)
  if (wanted !== undefined && owners.length > 0 && !owners.includes(module))
    throw badRequest(
      {
        en: `Action '${wanted.toLowerCase()}' belongs to module ${owners.map(quoted).join(' or ')}, not to '${module}'.`,
        zh: `action '${wanted.toLowerCase()}' 属于 module ${owners.map(quoted).join(' 或 ')}，不属于 '${module}'。`,
      },
      { parameter: 'module' },
    )
  const name = named(
    'action',
    wanted,
    own.map(({ action }) => action),
  )
  throw new TypeError(`There is no action ${name} in module ${module}.`)
}

const quoted = (name: string): string => `'${name}'`

const named = (
  parameter: 'module' | 'action',
  text: string | undefined,
  names: readonly string[],
): string => {
  if (text === undefined)
    throw badRequest(
      {
        en: `Parameter '${parameter}' is missing; it must be one of ${names.join(', ')}.`,
        zh: `缺少参数 '${parameter}'；取值须为以下之一：${names.join('、')}。`,
      },
      { parameter },
    )
  const found = names.find(name => name === text.toLowerCase())
  if (found !== undefined) return found
  const rest = nearestText(nearest(text, names), {
    en: `; it must be one of ${names.join(', ')}.`,
    zh: `；取值须为以下之一：${names.join('、')}。`,
  })
  throw badRequest(
    {
      en: `Parameter '${parameter}' is ${shown(text)}, which is unknown${rest.en}`,
      zh: `参数 '${parameter}' 的值 ${shown(text)} 未知${rest.zh}`,
    },
    { parameter },
  )
}
