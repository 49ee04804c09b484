import { join } from 'node:path'
import { type Gate, openGate } from './gate.ts'

/** A store the soak loads into, as processes reach it. */
export type SoakPlace = {
  readonly name: 'sqlite' | 'elasticsearch'
  /** Values of `--store`: for the loader, for services, and for commands that are run by hand. */
  readonly store: { readonly loader: string; readonly service: string; readonly commands: string }
  /** In between, where there is a server to stand between. */
  readonly gates?: { readonly loader: Gate; readonly service: Gate }
  /** Of SQLite: the file. */
  readonly path?: string
  /** Of Elasticsearch: server and prefix. */
  readonly server?: { readonly url: string; readonly prefix: string }
  close(): Promise<void>
}

export const sqlitePlace = (folder: string): SoakPlace => {
  const path = join(folder, 'soak.sqlite')
  const store = `sqlite:${path}`
  return {
    name: 'sqlite',
    store: { loader: store, service: store, commands: store },
    path,
    close: async () => {},
  }
}

export const elasticPlace = async (url: string): Promise<SoakPlace> => {
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
