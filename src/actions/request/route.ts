import type { Action } from '../define.ts'
import { oneOf, type Query } from './query.ts'
import { badRequest, nearest, shown } from './refusals.ts'

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
  const elsewhere = actions.find(({ action }) => action === wanted?.toLowerCase())
  if (wanted !== undefined && elsewhere !== undefined && elsewhere.module !== module)
    throw badRequest(
      {
        en: `Action '${elsewhere.action}' belongs to module '${elsewhere.module}', not to '${module}'.`,
        zh: `action '${elsewhere.action}' 属于 module '${elsewhere.module}'，不属于 '${module}'。`,
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
  const near = nearest(text, names) ?? ''
  throw badRequest(
    {
      en: `Parameter '${parameter}' is ${shown(text)}, which is unknown; the nearest one is '${near}'.`,
      zh: `参数 '${parameter}' 的值 ${shown(text)} 未知；最接近的是 '${near}'。`,
    },
    { parameter },
  )
}
