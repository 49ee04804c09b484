/** Credentials of the user. */
export type ElasticAuth = { readonly username: string; readonly password: string } | { readonly apiKey: string }

/** A request to the server. */
export type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** JSON text. */
  readonly body?: string
  /** Lines of JSON text, each ended by a line feed. */
  readonly lines?: string
  /** The request is about the copies that its searches name: no others are read, even if the host is left out. */
  readonly isOfNamedCopies?: true
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** The server's answer. */
export type ElasticResponse = { readonly status: number; readonly text: string }

/** POST requests that change nothing. */
const READS = /(?:^|\/)_(?:search|msearch|mget|count|terms_enum)$/

/** Whether a request changes nothing, so that it may be sent twice and to several hosts at once. */
export const isReading = ({ method, path }: Pick<Request, 'method' | 'path'>): boolean =>
  method === 'GET' || (method === 'POST' && READS.test(path))
