import { ask } from './ask.ts'
import type { Connection } from './connection.ts'

type Settings = Readonly<Record<string, { readonly settings?: Readonly<Record<string, string>> }>>

/** Whether an index takes no writes by its own setting, as merged partitions do. */
export const isReadOnly = async (
  connection: Connection,
  name: string,
  signal?: AbortSignal,
): Promise<boolean> => {
  const settings = await ask<Settings>(connection, {
    what: `read the settings of ${name}`,
    method: 'GET',
    path: `/${name}/_settings/index.blocks.write`,
    query: { flat_settings: 'true' },
    ...(signal === undefined ? {} : { signal }),
  })
  return settings[name]?.settings?.['index.blocks.write'] === 'true'
}
