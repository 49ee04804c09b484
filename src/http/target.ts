/** Path and query of a request as they were sent, undecoded. */
export type Target = {
  readonly path: string
  /** Text after the `?`, without it; `""` when there is none. */
  readonly query: string
}

/**
 * Cuts a request's URL by hand: Bun passes a URL that no parser takes when the Host header is missing or odd
 * (`/api/` alone, `http://[::1/api/`), and such a request has a path all the same.
 */
export const targetOf = (url: string): Target => {
  const rest = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const [whole = ''] = rest.split('#', 1)
  const mark = whole.indexOf('?')
  const path = mark === -1 ? whole : whole.slice(0, mark)
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : whole.slice(mark + 1) }
}

/**
 * The path behind the prefix that the service stands at; `""` is the prefix itself, without a slash at its end. A path
 * that is not behind it stays as it is: no route has it.
 */
export const pathBehind = (prefix: string, path: string): string =>
  path === prefix || path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path

/**
 * Whether Elysia finds the path in this URL: it searches for the first `/` from character 11 on, so a host of fewer
 * than 4 characters hides it (`http://a/api/`).
 */
export const isRoutable = (url: string): boolean => /^https?:\/\/[^/?#]{4}/.test(url)
