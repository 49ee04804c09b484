import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Service } from './service.ts'

type Params = Readonly<Record<string, string | number>>
type CallOptions = { readonly signal?: AbortSignal }
type Page = { readonly page: number; readonly size: number; readonly total: number }

/** An action of the client module that the service serves. The client's own types say which actions have lists. */
export type ClientAction = {
  (params?: Params, options?: CallOptions): Promise<unknown>
  pages(params?: Params, options?: CallOptions): AsyncGenerator<Page, void>
  rows(params?: Params, options?: CallOptions): AsyncGenerator<unknown, void>
  whole(
    params?: Params,
    options?: CallOptions,
  ): AsyncGenerator<unknown, { readonly rows: number; readonly block_height: string }>
}
export type ServedClient = { readonly [operation: string]: ClientAction }

type ClientSettings = {
  readonly url?: string
  readonly key?: string
  readonly lang?: 'en' | 'zh'
  readonly retries?: number
  readonly longestWait?: number
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** The module that a service serves as `/client.ts`. */
export async function clientModuleOf({ ask }: Pick<Service, 'ask'>): Promise<{
  readonly createClient: (settings: ClientSettings) => ServedClient
  readonly IostlensError: typeof Error
}> {
  const folder = await mkdtemp(join(tmpdir(), 'iostlens-client-'))
  try {
    const path = join(folder, 'client.ts')
    await Bun.write(path, await (await ask('/client.ts')).text())
    return await import(path)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A client of a service under test, without a socket unless `settings` say otherwise. */
export async function clientOf(
  service: Pick<Service, 'ask' | 'key'>,
  settings: ClientSettings = {},
): Promise<ServedClient> {
  const { createClient } = await clientModuleOf(service)
  const fetch = (url: string, init: RequestInit) => service.ask(url.slice('http://inside'.length), init)
  return createClient({ url: 'http://inside', key: service.key, fetch, ...settings })
}
