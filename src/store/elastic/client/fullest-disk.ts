import type { Connection } from './connection.ts'
import { parseAnswer } from './request-json.ts'

type Room = {
  readonly path?: string
  readonly total_in_bytes?: number
  readonly available_in_bytes?: number
}
type Stats = {
  readonly nodes?: Readonly<
    Record<string, { readonly name?: string; readonly fs?: { readonly data?: readonly Room[] } }>
  >
}

/** A hung server is left out of the answer. */
const TIMEOUT_MS = 5_000

/**
 * Names the disk with the smallest share of free space and its server, as a sentence for a message about
 * refused writes. undefined: the user lacks the privilege, or no server answers.
 */
export const fullestDisk = async (connection: Connection): Promise<string | undefined> => {
  const what = 'read the state of the disks'
  try {
    const answer = await connection.send({
      method: 'GET',
      path: '/_nodes/stats/fs',
      query: { filter_path: 'nodes.*.name,nodes.*.fs.data', timeout: `${TIMEOUT_MS}ms` },
      timeoutMs: TIMEOUT_MS,
    })
    if (answer.status >= 300) return undefined
    const { nodes = {} } = parseAnswer<Stats>({ connection, what }, answer.text)
    const [fullest] = Object.values(nodes)
      .flatMap(({ name = '', fs }) => (fs?.data ?? []).map(room => ({ name, ...room })))
      .map(({ name, path = '', total_in_bytes: total = 0, available_in_bytes: free = 0 }) => ({
        text: `The fullest disk is that of server ${name} (${path}): ${gigabytes(free)} of ${gigabytes(total)} GB are free.`,
        share: total === 0 ? 1 : free / total,
      }))
      .toSorted((a, b) => a.share - b.share)
    return fullest?.text
  } catch {
    return undefined
  }
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1)
