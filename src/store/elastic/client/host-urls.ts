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
