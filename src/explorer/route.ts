import { decoded } from './decoded.ts'

/**
 * What stands at a path: the first whose own path fits, and the segment that this leaves open as `{id}`. undefined: nothing
 * does.
 */
export const routeAt = <T extends { readonly path: string }>(
  all: readonly T[],
  path: string,
): { readonly found: T; readonly id: string } | undefined => {
  for (const found of all) {
    const [before = '', after] = found.path.split('{id}')
    if (after === undefined && path === before) return { found, id: '' }
    if (after === undefined || !path.startsWith(before) || !path.endsWith(after)) continue
    const id = path.slice(before.length, path.length - after.length)
    if (id !== '' && !id.includes('/')) return { found, id: decoded(id) }
  }
  return undefined
}
