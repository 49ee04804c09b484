import { pages } from '#explorer/pages.ts'

/** Paths of the explorer as routes, in both languages. */
export const explorerRoutes: readonly string[] = pages.flatMap(({ path }) => {
  const route = path.replace('{id}', ':id')
  return path === '/' ? ['/', '/zh', '/zh/'] : [route, `/zh${route}`]
})
