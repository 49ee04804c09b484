import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Failure, messageOf } from '#failure/failure.ts'
import type { ElasticAuth } from './request.ts'

export type ConnectionOptions = {
  /**
   * `http(s)://host:port`, or several hosts of one cluster separated by commas; with a path if a proxy needs
   * one; never with credentials.
   */
  readonly url: string
  readonly auth?: ElasticAuth
  /** PEM file of the CA that signed the server's certificate. */
  readonly caFile?: string
  /** Maximum time for one answer to a read, milliseconds. */
  readonly requestTimeoutMs?: number
  /** Maximum number of sockets to one host; further requests wait. */
  readonly maxSockets?: number
}

/** The content of the file in --store-ca. */
export function readCa(file: string): string {
  try {
    const text = readFileSync(file, 'utf8')
    // Without a certificate the runtime would only say that no connection can be made.
    new X509Certificate(text)
    return text
  } catch (error) {
    throw new Failure('usage', `The CA file ${file} (--store-ca) cannot be read: ${messageOf(error)}.`)
  }
}

/** `http(s)://host:port,host:port/path` as one URL for each host. Throws 'usage' on anything else. */
export function hostUrls(text: string): readonly URL[] {
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

/** Name of the user, for messages; never the password. */
export function userOf(auth: ElasticAuth | undefined): string {
  if (auth === undefined) return 'without a user'
  return 'username' in auth ? `user '${auth.username}'` : 'the API key'
}
