import { Failure } from '#failure/failure.ts'
import type { SnapshotName, SnapshotOptions, SnapshotProgress } from '#store/snapshots-port.ts'
import { requestJson } from '../client/request-json.ts'
import type { Cluster } from '../schema/cluster.ts'
import { listIndices } from '../schema/list-indices.ts'
import { inParts } from '../schema/names.ts'
import { pathOf, requireOf } from './take-snapshot.ts'

const POLL_MS = 200
/** Consecutive checks without recovery after which open shards count as lost; the server retries five times. */
const IDLE_CHECKS = 50

type Shards = Readonly<
  Record<
    string,
    | {
        readonly shards: readonly {
          readonly primary: boolean
          readonly stage: string
          readonly index: {
            readonly size: { readonly total_in_bytes: number; readonly recovered_in_bytes: number }
          }
        }[]
      }
    | undefined
  >
>

/** `Snapshots.restore`. The server continues if this process dies, and the next run waits for it. */
export const restoreSnapshot = async (
  cluster: Cluster,
  snapshot: SnapshotName,
  { signal, onProgress }: SnapshotOptions,
): Promise<boolean> => {
  const isNew = (await listIndices(cluster)).length === 0
  if (isNew) await begin(cluster, snapshot)
  const indices = (await listIndices(cluster)).map(({ name }) => name)
  for (let idle = 0; ; ) {
    signal.throwIfAborted()
    const { open, ...progress } = await stateOf(cluster, indices)
    onProgress(progress)
    const [first] = open
    if (first === undefined) {
      await requireOf(cluster, snapshot)
      return isNew
    }
    idle = (await isWorking(cluster)) ? 0 : idle + 1
    if (idle === IDLE_CHECKS)
      throw new Failure('damaged', `${first} could not be restored from the snapshot ${snapshot.name}.`, {
        help: `GET /_cluster/allocation/explain gives the reason. Then delete the indices and restore another snapshot.`,
        details: { index: first },
      })
    await cluster.clock.sleep(POLL_MS)
  }
}

const begin = async ({ connection, names, writeTimeoutMs }: Cluster, snapshot: SnapshotName): Promise<void> => {
  const what = `restore the snapshot ${snapshot.name}`
  const { snapshots } = await requestJson<{ snapshots: readonly { readonly indices: readonly string[] }[] }>(
    connection,
    { what, method: 'GET', path: pathOf(snapshot) },
  )
  const ours = (snapshots[0]?.indices ?? []).filter(name => name.startsWith(`${names.prefix}-`))
  if (ours.length === 0)
    throw new Failure('usage', `The snapshot ${snapshot.name} has no index of ${names.prefix}.`, {
      help: 'Set --store to the prefix that the snapshot was taken of.',
    })
  await requestJson(connection, {
    what,
    method: 'POST',
    path: `${pathOf(snapshot)}/_restore`,
    body: JSON.stringify({ indices: ours.join(','), include_global_state: false, include_aliases: true }),
    timeoutMs: writeTimeoutMs,
  })
}

/** Indices whose primary is not active yet, and the restored bytes. */
const stateOf = async (
  { connection }: Cluster,
  indices: readonly string[],
): Promise<SnapshotProgress & { readonly open: readonly string[] }> => {
  const open: string[] = []
  let [done, of] = [0, 0]
  for (const part of inParts(indices)) {
    const shards = await requestJson<Shards>(connection, {
      what: `see the recovery of ${part}`,
      method: 'GET',
      path: `/${part}/_recovery`,
      query: { filter_path: '*.shards.primary,*.shards.stage,*.shards.index.size' },
    })
    for (const name of part.split(',')) {
      const primary = shards[name]?.shards.find(shard => shard.primary)
      if (primary?.stage !== 'DONE') open.push(name)
      done += primary?.index.size.recovered_in_bytes ?? 0
      of += primary?.index.size.total_in_bytes ?? 0
    }
  }
  return { open, done, of }
}

const isWorking = async ({ connection, names }: Cluster): Promise<boolean> => {
  const { initializing_shards: working } = await requestJson<{ readonly initializing_shards: number }>(connection, {
    what: `see the health of ${names.prefix}`,
    method: 'GET',
    path: `/_cluster/health/${names.prefix}-*`,
  })
  return working > 0
}
