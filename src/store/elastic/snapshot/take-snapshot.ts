import { Failure } from '#failure/failure.ts'
import type { SnapshotName, SnapshotOptions } from '#store/snapshots-port.ts'
import { errorOf, failureOf } from '../client/failures.ts'
import { requestJson, requestText } from '../client/request-json.ts'
import type { Cluster } from '../schema/cluster.ts'
import { listIndices } from '../schema/list-indices.ts'
import { keptText } from './kept-text.ts'

const POLL_MS = 200
/** Stricter than the server, which treats other names as patterns or refuses them. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/

type Sizes = { readonly size_in_bytes?: number }
type Status = {
  readonly snapshots: readonly {
    readonly stats?: { readonly processed?: Sizes; readonly incremental?: Sizes }
  }[]
}
type Info = {
  readonly snapshots: readonly {
    readonly snapshot: string
    readonly state: string
    readonly metadata?: { readonly iostlens?: string }
    readonly failures?: readonly { readonly index?: string; readonly reason?: string }[]
  }[]
}

export const pathOf = ({ repository, name }: SnapshotName): string =>
  `/_snapshot/${encodeURIComponent(repository)}/${encodeURIComponent(name)}`

/** `Snapshots.take`. The server continues if this process dies, and the next run waits for it. */
export const takeSnapshot = async (
  cluster: Cluster,
  snapshot: SnapshotName,
  { signal, onProgress }: SnapshotOptions,
): Promise<void> => {
  const { connection, clock } = cluster
  if (!NAME.test(snapshot.name))
    throw new Failure('usage', `The name of the snapshot is '${snapshot.name}'; it must match ${NAME.source}.`)
  const mark = await markOf(cluster)
  await begin(cluster, snapshot, mark)
  const what = `take the snapshot ${snapshot.name}`
  for (;;) {
    signal.throwIfAborted()
    const { snapshots } = await requestJson<Info>(connection, { what, method: 'GET', path: pathOf(snapshot) })
    const [{ state, metadata, failures } = { state: 'MISSING' }] = snapshots
    if (metadata?.iostlens !== mark) throw taken(snapshot)
    if (state === 'SUCCESS') return
    if (state !== 'IN_PROGRESS' && state !== 'STARTED')
      throw new Failure(
        'unavailable',
        `The snapshot ${snapshot.name} ended as ${state}: ${failures?.[0]?.index ?? ''} ${failures?.[0]?.reason ?? ''}.`,
        { help: `Delete it (DELETE ${pathOf(snapshot)}), then take it again.`, retryable: false },
      )
    const status = await requestJson<Status>(connection, {
      what,
      method: 'GET',
      path: `${pathOf(snapshot)}/_status`,
    })
    const { processed, incremental } = status.snapshots[0]?.stats ?? {}
    onProgress({ done: processed?.size_in_bytes ?? 0, of: incremental?.size_in_bytes ?? 0 })
    await clock.sleep(POLL_MS)
  }
}

/** Distinguishes snapshots of one state of the store from others. */
const markOf = async (cluster: Cluster): Promise<string> =>
  new Bun.CryptoHasher('sha256').update((await keptText(cluster)) ?? '').digest('hex')

/**
 * Throws 'usage' unless the store has the same content as the snapshot of this name. Its indices may have
 * been restored by hand, or from another snapshot by a run that was killed.
 */
export const requireOf = async (cluster: Cluster, snapshot: SnapshotName): Promise<void> => {
  const { connection, names } = cluster
  const what = `see the snapshot ${snapshot.name}`
  const { snapshots } = await requestJson<Info>(connection, { what, method: 'GET', path: pathOf(snapshot) })
  const found = snapshots.find(each => each.snapshot === snapshot.name)
  if (found?.metadata?.iostlens === (await markOf(cluster))) return
  throw new Failure('usage', `${names.prefix} is not what the snapshot ${snapshot.name} has.`, {
    help: 'Name the snapshot that its indices were restored from, or delete the indices to restore this one.',
  })
}

const begin = async (cluster: Cluster, snapshot: SnapshotName, mark: string): Promise<void> => {
  const { connection, names, writeTimeoutMs } = cluster
  const indices = (await listIndices(cluster)).map(({ name }) => name)
  const what = `take the snapshot ${snapshot.name}`
  const answer = await requestText(connection, {
    what,
    method: 'PUT',
    path: pathOf(snapshot),
    body: JSON.stringify({
      // Counts of requests are in an optional index.
      indices: [...indices, `${names.served('usage')}-*`].join(','),
      ignore_unavailable: false,
      include_global_state: false,
      metadata: { iostlens: mark },
    }),
    timeoutMs: writeTimeoutMs,
    acceptedStatuses: [400, 404, 409],
  })
  if (answer.status < 300) return
  const { type } = errorOf(answer)
  if (type === 'repository_missing_exception')
    throw new Failure('usage', `Elasticsearch at ${connection.url} has no repository ${snapshot.repository}.`, {
      help: 'Register it (PUT /_snapshot/NAME), or set --repository to an existing one.',
    })
  // The mark tells whose snapshot has the name.
  if (type !== 'invalid_snapshot_name_exception' && type !== 'snapshot_name_already_in_use_exception')
    throw failureOf({ connection, what }, answer)
}

const taken = ({ repository, name }: SnapshotName): Failure =>
  new Failure('usage', `There is a snapshot ${name} of another state in ${repository}; none is replaced.`, {
    help: 'Name one that does not exist yet.',
  })
