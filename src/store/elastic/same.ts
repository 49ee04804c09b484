import { Failure } from '#failure/failure.ts'
import type { BulkItem } from './bulk-item.ts'
import type { Connection } from './connection.ts'
import { getMany } from './get-many.ts'

/** Makes sure that documents which were there already are the very same; throws 'conflict' on the first other one. */
export const requireSame = async (connection: Connection, items: readonly BulkItem[]): Promise<void> => {
  const stored = await getMany(connection, items, { realtime: true })
  for (const [at, item] of items.entries()) {
    const got = stored[at]
    // Field order is that of the definitions on both sides.
    const same =
      got !== undefined && JSON.stringify(got.source) === JSON.stringify(JSON.parse(item.source ?? '{}'))
    if (!same)
      throw new Failure(
        'conflict',
        `Another loader wrote ${item.index} '${item.id}' with other content, or took it away.`,
        { help: 'Stop the other loader, then start this one again.' },
      )
  }
}
