import type { estypes } from '@elastic/elasticsearch'
import type { Connection } from './connection.ts'
import { call } from './typed-client.ts'

/** Whether an index has a write block, as merged partitions do. */
export async function isReadOnly(connection: Connection, name: string, signal?: AbortSignal): Promise<boolean> {
  const question = { index: name, name: 'index.blocks.write', flat_settings: true }
  const what = `read the settings of ${name}`
  const settings = await call<estypes.IndicesGetSettingsResponse>(connection, { what, signal }, (client, options) =>
    client.indices.getSettings(question, options),
  )
  return String(settings[name]?.settings?.['index.blocks.write']) === 'true'
}

/** Makes an index read-only after the writes under way have ended. */
export async function addWriteBlock(connection: Connection, name: string, signal?: AbortSignal): Promise<void> {
  await call(connection, { what: `make ${name} read-only`, signal }, (client, options) =>
    client.indices.addBlock({ index: name, block: 'write' }, options),
  )
}

/** Makes an index writable again; a missing index is ignored. */
export async function removeWriteBlock(connection: Connection, name: string): Promise<void> {
  const settings = { blocks: { write: null } } as object
  await call(connection, { what: `make ${name} writable`, acceptedStatuses: [404] }, (client, options) =>
    client.indices.putSettings({ index: name, settings }, options),
  )
}
