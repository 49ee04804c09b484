import { until } from '#test/support/wait.ts'
import { freePorts, type OwnServer, type OwnServers, type Ports } from './elastic-process.ts'
import { openTroubledLine, type TroubledLine } from './troubled-line.ts'

/** Settings of a server without users and passwords, in a cluster that drops a server that ends, but none that hangs. */
const SETTINGS = [
  'xpack.security.enabled: false',
  ...['follower_check', 'leader_check'].map(check => `cluster.fault_detection.${check}.timeout: 1h`),
]

/** Three servers of a cluster, and the lines over which the other servers reach each of them. */
export type ThreeServers = {
  readonly servers: readonly [OwnServer, OwnServer, OwnServer]
  readonly lines: readonly TroubledLine[]
}

/** A cluster of three servers. No process runs before it is started. */
export async function threeServers(own: OwnServers): Promise<ThreeServers> {
  const names = ['first', 'second', 'third'] as const
  const ports: readonly Ports[] = [await freePorts(), await freePorts(), await freePorts()]
  const lines = await Promise.all(ports.map(({ transport }) => openTroubledLine(`http://127.0.0.1:${transport}`)))
  const seen = lines.map(({ url }) => new URL(url).port)
  const all = [
    `discovery.seed_hosts: [${seen.map(port => `"127.0.0.1:${port}"`).join(', ')}]`,
    `cluster.initial_master_nodes: [${names.join(', ')}]`,
    ...SETTINGS,
  ]
  const make = (at: 0 | 1 | 2): OwnServer =>
    own.make(names[at], ports[at] as Ports, { settings: [...all, `transport.publish_port: ${seen[at]}`] })
  return { servers: [make(0), make(1), make(2)], lines }
}

/** The `--store` URL of several servers. */
export const urlOfAll = (servers: readonly { readonly url: string }[]): string =>
  `http://${servers.map(({ url }) => url.slice('http://'.length)).join(',')}`

/** Resolves when the cluster health is as `wanted`, for example `wait_for_nodes=3`. */
export const healthy = (url: string, wanted: string): Promise<void> =>
  until(async () => {
    // The connection is refused until a node that was just started listens. The status is 408 when the wait timed out.
    const answer = await fetch(`${url}/_cluster/health?${wanted}&timeout=10s`).catch(() => undefined)
    return answer?.ok === true
  })

/** Resolves when every copy of every shard is allocated. */
export const isGreen = (url = ''): Promise<void> => healthy(url, 'wait_for_status=green')

/** Name of the current master node. */
export async function masterName(url: string): Promise<string> {
  const [master] = (await (await fetch(`${url}/_cat/master?format=json`)).json()) as {
    readonly node: string
  }[]
  return master?.node ?? ''
}
