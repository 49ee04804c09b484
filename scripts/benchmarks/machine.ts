import { cpus, freemem, loadavg, totalmem } from 'node:os'
import type { Elastic } from './elastic.ts'
import { fixed } from './measure.ts'

type Nodes = {
  readonly nodes: Readonly<
    Record<
      string,
      {
        readonly version: string
        readonly ip: string
        readonly process: { readonly id: number }
        readonly jvm: { readonly version: string; readonly mem: { readonly heap_max_in_bytes: number } }
      }
    >
  >
}

/**
 * The machine of the measurement: a line for the head of the report, and the process id of Elasticsearch if
 * it runs here.
 */
export const machine = async (elastic: Elastic) => {
  const { nodes } = await elastic.json<Nodes>('GET', '/_nodes/process,jvm')
  const [node] = Object.values(nodes)
  const [cpu] = cpus()
  const isHere = /^http:\/\/(127\.|localhost)/.test(elastic.url)
  const gib = (bytes: number): string => `${fixed(bytes / 2 ** 30, 1)} GiB`
  return {
    elasticPid: isHere ? node?.process.id : undefined,
    line:
      `${cpus().length} × ${cpu?.model}, ${gib(totalmem())} memory (${gib(freemem())} free), load ` +
      `${loadavg()
        .map(each => fixed(each))
        .join(' ')}, Bun ${Bun.version}, Elasticsearch ${node?.version} ` +
      `(heap ${gib(node?.jvm.mem.heap_max_in_bytes ?? 0)}), Java ${node?.jvm.version}; client, node, service and ` +
      `Elasticsearch ${isHere ? 'share these cores' : 'are apart'}.`,
  }
}

export const loadLine = (): string =>
  `(load ${loadavg()
    .map(each => fixed(each))
    .join(' ')}, ${new Date().toISOString().slice(11, 19)} UTC)`
