import type { estypes } from '@elastic/elasticsearch'
import { writeJson } from '#chain/json.ts'
import type { DiskRoom, ServerReport } from '#store/maintain-port.ts'
import { requestJson } from '../client/request.ts'
import type { ReadCluster } from '../schema/names.ts'

/** Privileges of a loader's role on all indices (`indices/roles.yml`). */
const LOADER = ['read', 'view_index_metadata', 'write', 'maintenance'] as const
/** Statuses of servers that refuse the request or lack the API. */
const UNTOLD = [400, 401, 403, 404, 405, 500]

export async function readServerReport(cluster: ReadCluster): Promise<ServerReport> {
  const settings = await readSettings(cluster)
  const create = settings?.('action.auto_create_index')
  const low = 'cluster.routing.allocation.disk.watermark.low'
  const limits = { watermark: settings?.(low) ?? '85%', headroom: settings?.(`${low}.max_headroom`) }
  const disks = await readDisks(cluster)
  return {
    disks: disks?.map(disk => ({ ...disk, leastBytes: computeLeastFree(disk.totalBytes, limits) })),
    missingPrivileges: await listMissingPrivileges(cluster),
    blocked: await listBlocked(cluster),
    createsIndices: create === undefined ? undefined : create !== 'false',
  }
}

async function readSettings({ connection }: ReadCluster) {
  const answer = await requestJson<Partial<estypes.ClusterGetSettingsResponse>>(connection, {
    what: 'read the settings of the cluster',
    path: '/_cluster/settings',
    query: { include_defaults: 'true', flat_settings: 'true' },
    acceptedStatuses: UNTOLD,
  })
  const { transient, persistent, defaults } = answer
  if (defaults === undefined) return undefined
  return (name: string): string | undefined => {
    const value: unknown = transient?.[name] ?? persistent?.[name] ?? defaults[name]
    return typeof value === 'string' ? value : undefined
  }
}

/** The disks of the cluster's servers; undefined: this user may not know. */
export async function readDisks({ connection }: ReadCluster): Promise<readonly DiskRoom[] | undefined> {
  const { nodes } = await requestJson<Partial<estypes.NodesStatsResponse>>(connection, {
    what: 'read the state of the disks',
    path: '/_nodes/stats/fs',
    acceptedStatuses: UNTOLD,
  })
  if (nodes === undefined) return undefined
  return Object.values(nodes).flatMap(({ name = '', fs }) => {
    const { total_in_bytes: totalBytes, available_in_bytes: freeBytes } = fs?.total ?? {}
    if (totalBytes === undefined || freeBytes === undefined) return []
    return [{ server: name, freeBytes, totalBytes }]
  })
}

/** Free bytes below which the low watermark is reached: a maximum used share, or a minimum of free bytes. */
export function computeLeastFree(
  totalBytes: number,
  { watermark, headroom }: { readonly watermark: string; readonly headroom: string | undefined },
): number {
  const bytes = parseBytes(watermark)
  if (bytes !== undefined) return bytes
  const used = watermark.endsWith('%') ? Number.parseFloat(watermark) / 100 : Number(watermark)
  const share = Math.round(totalBytes * (1 - used))
  return Math.min(share, (headroom === undefined ? undefined : parseBytes(headroom)) ?? share)
}

/** Parses a size such as `200gb`; undefined: not a number of bytes, such as a share or −1. */
function parseBytes(text: string): number | undefined {
  const [, digits, unit] = /^([\d.]+)([kmgtp]?b)$/i.exec(text) ?? []
  return digits === undefined || unit === undefined
    ? undefined
    : Number(digits) * 1_024 ** ['b', 'kb', 'mb', 'gb', 'tb', 'pb'].indexOf(unit.toLowerCase())
}

async function listMissingPrivileges({
  connection,
  names: { prefix },
}: ReadCluster): Promise<readonly string[] | undefined> {
  const pattern = `${prefix}-*`
  const { index } = await requestJson<Partial<estypes.SecurityHasPrivilegesResponse>>(connection, {
    what: 'read its own privileges',
    path: '/_security/user/_has_privileges',
    body: writeJson({ index: [{ names: [pattern], privileges: LOADER }] }),
    acceptedStatuses: UNTOLD,
  })
  const has = index?.[pattern]
  return has === undefined ? undefined : LOADER.filter(privilege => has[privilege] !== true)
}

async function listBlocked({ connection, names: { prefix } }: ReadCluster): Promise<readonly string[]> {
  const blocked = await requestJson<Readonly<Record<string, object>>>(connection, {
    what: 'read the settings of the indices',
    path: `/${prefix}-*/_settings`,
    query: { filter_path: '*.settings.index.blocks.read_only_allow_delete' },
    acceptedStatuses: UNTOLD,
  })
  return Object.keys(blocked).filter(name => name.startsWith(`${prefix}-`))
}
