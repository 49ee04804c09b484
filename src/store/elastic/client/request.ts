/** How the server knows the user. */
export type ElasticAuth =
  | { readonly username: string; readonly password: string }
  | { readonly apiKey: string }

/** What is asked of the server. */
export type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** JSON text. */
  readonly body?: string
  /** Lines of JSON text, each ended by a line feed. */
  readonly lines?: string
  /** The copies that its searches name are those it is about, so no others are asked, also while their host is left out. */
  readonly isOfNamedCopies?: true
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** What it answers. */
export type Answer = { readonly status: number; readonly text: string }
