import type { Connection } from './connection.ts'
import { requestJson } from './request-json.ts'

type Settings = Readonly<Record<string, { readonly settings?: Readonly<Record<string, string>> }>>

/** Whether an index has a write block, as merged partitions do. */
export const isReadOnly = async (connection: Connection, name: string, signal?: AbortSignal): Promise<boolean> => {
  const settings = await requestJson<Settings>(connection, {
    what: `read the settings of ${name}`,
    method: 'GET',
    path: `/${name}/_settings/index.blocks.write`,
    query: { flat_settings: 'true' },
    signal,
  })
  return settings[name]?.settings?.['index.blocks.write'] === 'true'
}

/** Makes an index read-only after the writes under way have ended. */
export const addWriteBlock = async (connection: Connection, name: string, signal?: AbortSignal): Promise<void> => {
  await requestJson(connection, {
    what: `make ${name} read-only`,
    method: 'PUT',
    path: `/${name}/_block/write`,
    signal,
  })
}

/** Makes an index writable again; a missing index is ignored. */
export const removeWriteBlock = async (connection: Connection, name: string): Promise<void> => {
  await requestJson(connection, {
    what: `make ${name} writable`,
    method: 'PUT',
    path: `/${name}/_settings`,
    body: JSON.stringify({ index: { blocks: { write: null } } }),
    acceptedStatuses: [404],
  })
}
