import { join } from 'node:path'
import { type Gate, openGate } from './gate.ts'

/** A store for the soak, with its addresses for the processes. */
export type SoakPlace = {
  readonly name: 'sqlite' | 'elasticsearch'
  /** Values of `--store` for the loader, for services, and for manually run commands. */
  readonly store: { readonly loader: string; readonly service: string; readonly commands: string }
  /** Proxies in front of the server, for a store with a server. */
  readonly gates?: { readonly loader: Gate; readonly service: Gate }
  /** The file of a SQLite store. */
  readonly path?: string
  /** Server and prefix of an Elasticsearch store. */
  readonly server?: { readonly url: string; readonly prefix: string }
  close(): Promise<void>
}

export function sqlitePlace(folder: string): SoakPlace {
  const path = join(folder, 'soak.sqlite')
  const store = `sqlite:${path}`
  return {
    name: 'sqlite',
    store: { loader: store, service: store, commands: store },
    path,
    close: async () => {},
  }
}

export async function elasticPlace(url: string): Promise<SoakPlace> {
  const prefix = `test-soak-${crypto.randomUUID().slice(0, 8)}`
  const gates = { loader: await openGate(() => url), service: await openGate(() => url) }
  return {
    name: 'elasticsearch',
    store: {
      loader: `${gates.loader.url}/${prefix}`,
      service: `${gates.service.url}/${prefix}`,
      commands: `${url}/${prefix}`,
    },
    gates,
    server: { url, prefix },
    close: async () => {
      await gates.loader.close()
      await gates.service.close()
      const names = Object.keys((await (await fetch(`${url}/${prefix}-*`)).json()) as object)
      for (let from = 0; from < names.length; from += 50)
        await fetch(`${url}/${names.slice(from, from + 50).join(',')}`, { method: 'DELETE' })
    },
  }
}
