import { lowerAddress } from '#chain/names.ts'
import { decoded } from './decoded.ts'

type Route<T> = { readonly found: T; readonly id: string; readonly part: string }

/**
 * The first entry whose path pattern matches a path, and the segments at its placeholders `{id}` and
 * `{part}`, addresses among them in lower case. undefined: no entry matches.
 */
export const routeAt = <T extends { readonly path: string }>(all: readonly T[], path: string): Route<T> | undefined => {
  const given = path.split('/')
  for (const found of all) {
    const own = found.path.split('/')
    const fits = (segment: string, at: number): boolean => (isOpen(segment) ? given[at] !== '' : given[at] === segment)
    if (own.length !== given.length || !own.every(fits)) continue
    const segmentOf = (name: string): string => lowerAddress(decoded(given[own.indexOf(name)] ?? ''))
    return { found, id: segmentOf('{id}'), part: segmentOf('{part}') }
  }
  return undefined
}

const isOpen = (segment: string): boolean => segment === '{id}' || segment === '{part}'
