import type { estypes } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import type { SnapshotName, SnapshotOptions, Snapshots, WritePosition } from '#store/maintain-port.ts'
import { toMembers } from '#store/published.ts'
import { parseError, readFailure, requestJson, requestText } from './client/request.ts'
import { refresh } from './client/sender.ts'
import { readPublished, readRecord } from './schema/checkpoint.ts'
import { countKinds, listIndices } from './schema/index-states.ts'
import { type Cluster, getStateIndex, joinParts, type ReadCluster } from './schema/names.ts'
import { listKeys } from './write/keys.ts'

/** In the index of checkpoint and published height, so that each snapshot contains it. */
const MANIFEST_ID = 'manifest'

export function openSnapshots(cluster: Cluster, onRestored: () => void): Snapshots {
  return {
    keep: async text => {
      const { connection, names } = cluster
      await requestJson(connection, {
        what: `write ${names.meta}`,
        method: 'PUT',
        path: `/${names.meta}/_doc/${MANIFEST_ID}`,
        query: { require_alias: 'true' },
        body: JSON.stringify({ body: text }),
      })
    },
    kept: () => readManifestText(cluster),
    writePositions: () => readWritePositions(cluster),
    keys: () => listKeys(cluster),
    take: (snapshot, how) => takeSnapshot(cluster, snapshot, how),
    restore: async (snapshot, how) => {
      const isRestored = await restoreSnapshot(cluster, snapshot, how)
      onRestored()
      return isRestored
    },
  }
}

async function readManifestText(cluster: ReadCluster): Promise<string | undefined> {
  const text = toMembers((await readRecord(cluster, MANIFEST_ID))?._source)?.['body']
  return typeof text === 'string' ? text : undefined
}

const POLL_MS = 200
/** Stricter than the server, which treats other names as patterns or refuses them. */
const SNAPSHOT_NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/

type SnapshotSizes = Readonly<Partial<Record<'processed' | 'incremental', { readonly size_in_bytes?: number }>>>
type SnapshotStatus = { readonly snapshots: readonly { readonly stats?: SnapshotSizes }[] }

function formatPath({ repository, name }: SnapshotName): string {
  return `/_snapshot/${encodeURIComponent(repository)}/${encodeURIComponent(name)}`
}

async function readSnapshots({ connection }: Cluster, snapshot: SnapshotName, what: string) {
  const request = { what, path: formatPath(snapshot) }
  return (await requestJson<estypes.SnapshotGetResponse>(connection, request)).snapshots ?? []
}

/** `Snapshots.take`. The server continues if this process dies, and the next run waits for it. */
async function takeSnapshot(
  cluster: Cluster,
  snapshot: SnapshotName,
  { signal, onProgress }: SnapshotOptions,
): Promise<void> {
  const { connection, clock } = cluster
  if (!SNAPSHOT_NAME.test(snapshot.name))
    throw new Failure('usage', `The name of the snapshot is '${snapshot.name}'; it must match ${SNAPSHOT_NAME.source}.`)
  const mark = await readMark(cluster)
  await beginSnapshot(cluster, snapshot, mark)
  const what = `take the snapshot ${snapshot.name}`
  for (;;) {
    signal.throwIfAborted()
    const [{ state, metadata, failures } = {}] = await readSnapshots(cluster, snapshot, what)
    if (metadata?.['iostlens'] !== mark) {
      const { repository, name } = snapshot
      const message = `There is a snapshot ${name} of another state in ${repository}; none is replaced.`
      throw new Failure('usage', message, { help: 'Name one that does not exist yet.' })
    }
    if (state === 'SUCCESS') return
    if (state !== 'IN_PROGRESS' && state !== 'STARTED')
      throw new Failure(
        'unavailable',
        `The snapshot ${snapshot.name} ended as ${state}: ${failures?.[0]?.index ?? ''} ${failures?.[0]?.reason ?? ''}.`,
        { help: `Delete it (DELETE ${formatPath(snapshot)}), then take it again.`, retryable: false },
      )
    const path = `${formatPath(snapshot)}/_status`
    const { snapshots } = await requestJson<SnapshotStatus>(connection, { what, path })
    const { processed, incremental } = snapshots[0]?.stats ?? {}
    onProgress({ done: processed?.size_in_bytes ?? 0, of: incremental?.size_in_bytes ?? 0 })
    await clock.sleep(POLL_MS)
  }
}

/** Distinguishes snapshots of one state of the store from others. */
async function readMark(cluster: Cluster): Promise<string> {
  return new Bun.CryptoHasher('sha256').update((await readManifestText(cluster)) ?? '').digest('hex')
}

async function beginSnapshot(cluster: Cluster, snapshot: SnapshotName, mark: string): Promise<void> {
  const { connection, names, writeTimeoutMs } = cluster
  const indices = (await listIndices(cluster)).map(({ name }) => name)
  const what = `take the snapshot ${snapshot.name}`
  const answer = await requestText(connection, {
    what,
    method: 'PUT',
    path: formatPath(snapshot),
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
  const { type } = parseError(answer)
  if (type === 'repository_missing_exception')
    throw new Failure('usage', `Elasticsearch at ${connection.url} has no repository ${snapshot.repository}.`, {
      help: 'Register it (PUT /_snapshot/NAME), or set --repository to an existing one.',
    })
  // The mark tells whose snapshot has the name.
  if (type !== 'invalid_snapshot_name_exception' && type !== 'snapshot_name_already_in_use_exception')
    throw readFailure({ connection, what }, answer)
}

/** `Snapshots.restore`. The server continues if this process dies, and the next run waits for it. */
async function restoreSnapshot(
  cluster: Cluster,
  snapshot: SnapshotName,
  { signal, onProgress }: SnapshotOptions,
): Promise<boolean> {
  const isNew = (await listIndices(cluster)).length === 0
  if (isNew) await beginRestore(cluster, snapshot)
  const indices = (await listIndices(cluster)).map(({ name }) => name)
  for (let idle = 0; ; ) {
    signal.throwIfAborted()
    const { open, ...progress } = await readRecovery(cluster, indices)
    onProgress(progress)
    const [first] = open
    if (first === undefined) {
      // The indices may have been restored by hand, or from another snapshot by a run that was killed.
      const all = await readSnapshots(cluster, snapshot, `see the snapshot ${snapshot.name}`)
      const found = all.find(each => each.snapshot === snapshot.name)
      if (found?.metadata?.['iostlens'] === (await readMark(cluster))) return isNew
      throw new Failure('usage', `${cluster.names.prefix} is not what the snapshot ${snapshot.name} has.`, {
        help: 'Name the snapshot that its indices were restored from, or delete the indices to restore this one.',
      })
    }
    const health = await requestJson<estypes.ClusterHealthResponse>(cluster.connection, {
      what: `see the health of ${cluster.names.prefix}`,
      path: `/_cluster/health/${cluster.names.prefix}-*`,
    })
    idle = health.initializing_shards > 0 ? 0 : idle + 1
    // Without recovery open shards count as lost; the server retries five times.
    if (idle === 50)
      throw new Failure('damaged', `${first} could not be restored from the snapshot ${snapshot.name}.`, {
        help: `GET /_cluster/allocation/explain gives the reason. Then delete the indices and restore another snapshot.`,
        details: { index: first },
      })
    await cluster.clock.sleep(POLL_MS)
  }
}

async function beginRestore(cluster: Cluster, snapshot: SnapshotName): Promise<void> {
  const { connection, names, writeTimeoutMs } = cluster
  const what = `restore the snapshot ${snapshot.name}`
  const [found] = await readSnapshots(cluster, snapshot, what)
  const ours = (found?.indices ?? []).filter(name => name.startsWith(`${names.prefix}-`))
  if (ours.length === 0)
    throw new Failure('usage', `The snapshot ${snapshot.name} has no index of ${names.prefix}.`, {
      help: 'Set --store to the prefix that the snapshot was taken of.',
    })
  await requestJson(connection, {
    what,
    path: `${formatPath(snapshot)}/_restore`,
    body: JSON.stringify({ indices: ours.join(','), include_global_state: false, include_aliases: true }),
    timeoutMs: writeTimeoutMs,
  })
}

async function readRecovery({ connection }: Cluster, indices: readonly string[]) {
  const open: string[] = []
  let [done, of] = [0, 0]
  for (const part of joinParts(indices)) {
    const shards = await requestJson<estypes.IndicesRecoveryResponse>(connection, {
      what: `see the recovery of ${part}`,
      path: `/${part}/_recovery`,
      query: { filter_path: '*.shards.primary,*.shards.stage,*.shards.index.size' },
    })
    for (const name of part.split(',')) {
      const primary = shards[name]?.shards.find(shard => shard.primary)
      if (primary?.stage !== 'DONE') open.push(name)
      done += Number(primary?.index.size.recovered_in_bytes ?? 0)
      of += Number(primary?.index.size.total_in_bytes ?? 0)
    }
  }
  return { open, done, of }
}

/**
 * `Snapshots.writePositions`. Elasticsearch numbers a shard's operations; a restored shard continues the numbers. Kinds of
 * state that share an index have the same number, and each its own documents.
 */
async function readWritePositions(cluster: Cluster): Promise<readonly WritePosition[]> {
  const { connection } = cluster
  const at = await readPublished(cluster)
  if (at === undefined) return []
  const names = cluster.names.at(at.generations)
  const history = historyIndices.flatMap(index =>
    at.partitions.map((_, partition) => {
      return { name: names.partition(index, partition), place: { index: index.name, partition } }
    }),
  )
  const written = [...history.map(({ name }) => name), ...names.states]
  const stands = await readStands(cluster, written)
  for (const part of joinParts(written)) await refresh(cluster, part.split(','))
  const standOf = (name: string) => {
    const stand = stands.get(name)
    if (stand === undefined) throw new Failure('unavailable', `Index ${name} has no primary shard at the moment.`)
    return stand
  }
  const kinds = await countKinds(connection, names.behind('state'))
  return [
    ...history.map(({ name, place }) => ({ ...place, ...standOf(name) })),
    ...stateIndices.map(index => {
      const { operation, documents } = standOf(names.state(index))
      const own = getStateIndex(index) === 'state' ? (kinds.get(index.name) ?? 0) : documents
      return { index: index.name, operation, documents: own }
    }),
  ]
}

async function readStands({ connection }: Cluster, names: readonly string[]) {
  const found = new Map<string, Pick<WritePosition, 'operation' | 'documents'>>()
  for (const part of joinParts(names)) {
    const { indices } = await requestJson<estypes.IndicesStatsResponse>(connection, {
      what: `see how far ${part} was written`,
      path: `/${part}/_stats/docs`,
      query: { level: 'shards', filter_path: '**.routing.primary,**.docs.count,**.seq_no.max_seq_no' },
    })
    for (const [name, { shards = {} }] of Object.entries(indices ?? {})) {
      const copies = Object.values(shards).flat()
      const { docs, seq_no } = copies.find(({ routing }) => routing?.primary) ?? {}
      if (docs !== undefined && seq_no !== undefined)
        found.set(name, { operation: seq_no.max_seq_no, documents: docs.count })
    }
  }
  return found
}
