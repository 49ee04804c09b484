import { Failure } from '#failure/failure.ts'

/** `http(s)://host:port,host:port/path` as one URL for each host. Throws 'usage' on anything else. */
export const hostUrls = (text: string): readonly URL[] => {
  const [, scheme, authority, path = ''] = /^(https?:\/\/)([^/?#]*)(.*)$/.exec(text) ?? []
  // Checked before splitting at commas: a password may contain one, and no part of it may appear in a message.
  if (authority?.includes('@'))
    throw new Failure('usage', `The Elasticsearch URL ${text} contains a user or password.`, {
      help: 'Use --store-user and --store-password-file instead.',
    })
  return (authority ?? '').split(',').map(host => {
    const url = `${scheme}${host}${path}`
    if (authority === undefined || host === '' || !URL.canParse(url))
      throw new Failure(
        'usage',
        `'${text}' is not an Elasticsearch URL; expected http(s)://host:port, or several hosts of one cluster, separated by commas.`,
      )
    return new URL(url)
  })
}

/** A host that failed is left out for this time. */
const REST_MS = 5_000

/**
 * Hosts of one cluster in turn. One that failed is left out for a while; if all are, the one that failed first is next.
 */
export const hostTurns = <T>(hosts: readonly T[], now: () => number = Date.now) => {
  const restingUntil = new Map<T, number>()
  let turn = 0
  return {
    next: (): T => {
      const at = now()
      const order = hosts.map((_, step) => hosts[(turn + step) % hosts.length] as T)
      const until = (host: T): number => restingUntil.get(host) ?? 0
      const chosen =
        order.find(host => until(host) <= at) ?? order.reduce((a, b) => (until(b) < until(a) ? b : a))
      turn = (hosts.indexOf(chosen) + 1) % hosts.length
      return chosen
    },
    failed: (host: T): void => {
      restingUntil.set(host, now() + REST_MS)
    },
  }
}
