import type { estypes } from '@elastic/elasticsearch'
import type { Connection } from './connection.ts'
import { call } from './typed-client.ts'

/** A hung server is left out of the answer. */
const TIMEOUT_MS = 5_000

/**
 * Names the disk with the smallest share of free space and its server, as a sentence for a message about
 * refused writes. undefined: the user lacks the privilege, or no server answers.
 */
export async function fullestDisk(connection: Connection): Promise<string | undefined> {
  const filter_path = 'nodes.*.name,nodes.*.fs.data'
  const calling = { what: 'read the state of the disks', timeoutMs: TIMEOUT_MS }
  try {
    const { nodes = {} } = await call<estypes.NodesStatsResponse>(connection, calling, (client, options) =>
      client.nodes.stats({ metric: 'fs', filter_path, timeout: `${TIMEOUT_MS}ms` }, options),
    )
    const disks = Object.values(nodes).flatMap(({ name = '', fs }) =>
      (fs?.data ?? []).map(({ path = '', total_in_bytes: total = 0, available_in_bytes: free = 0 }) => ({
        text: `The fullest disk is that of server ${name} (${path}): ${gigabytes(free)} of ${gigabytes(total)} GB are free.`,
        share: total === 0 ? 1 : free / total,
      })),
    )
    return disks.toSorted((a, b) => a.share - b.share)[0]?.text
  } catch {
    return undefined
  }
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1)
