import { join } from 'node:path'
import { ROOT, readCpu, runCommand } from './processes.ts'
import type { TableRow } from './report.ts'

/** Requests that a client sends in rotation. */
export type Target = {
  readonly name: string
  /** `http://HOST:PORT` */
  readonly url: string
  readonly paths: readonly string[]
  /** Body of a POST; absent: a GET. */
  readonly body?: string
  /** The process whose CPU is measured; absent: only that of Elasticsearch is. */
  readonly pid?: number
}

/** Figures of one target in one turn; CPU in milliseconds per request. */
type Figures = {
  readonly requests: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Number of answers other than 2xx, and of requests without an answer. */
  readonly failed: number
}

/** Sends requests for some seconds, with as many in flight as there are clients. */
export type Client = (target: Target, clients: number, seconds: number) => Promise<Figures>

type Turns = {
  readonly client: Client
  readonly clients: number
  readonly seconds: number
  readonly rounds: number
  readonly elasticPid: number | undefined
}

/**
 * Measures all targets in turns, each round in the opposite order of the last, so that slow changes of the machine
 * affect all alike. For each target, the round with the most requests per second counts: other work on the machine can
 * only slow requests down. The ratios compare with the first target.
 */
export async function measureInTurns(targets: readonly Target[], turns: Turns): Promise<readonly TableRow[]> {
  const best = new Map<Target, Awaited<ReturnType<typeof measureTurn>>>()
  for (let round = 0; round < turns.rounds; round++)
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      const figures = await measureTurn(target, turns)
      if (figures.perSecond > (best.get(target)?.perSecond ?? -1)) best.set(target, figures)
    }
  const floor = best.get(targets[0] as Target)
  return targets.flatMap(target => {
    const figures = best.get(target)
    if (figures === undefined || floor === undefined) return []
    const { p50, p99, perSecond, cpu, elasticCpu } = figures
    return {
      ...{ what: target.name, clients: turns.clients, 'p50 ms': p50, 'p99 ms': p99, '/s': perSecond },
      ...{ 'CPU ms': cpu, 'of Elasticsearch': elasticCpu },
      ...{ 'p50 ÷ floor': p50 / floor.p50, '/s of floor': perSecond / floor.perSecond },
    }
  })
}

const TRIES = 5

/** Measures one turn, and repeats it if requests failed: on a busy machine a service refuses some. */
async function measureTurn(target: Target, { client, clients, seconds, elasticPid }: Turns) {
  for (let tries = 1; ; tries++) {
    const [cpu, elasticCpu] = [await readCpu(target.pid), await readCpu(elasticPid)]
    const figures = await client(target, clients, seconds)
    const { failed, requests } = figures
    const countCpu = async (before: number | undefined, pid: number | undefined): Promise<number | undefined> =>
      before === undefined ? undefined : (1_000 * (((await readCpu(pid)) ?? before) - before)) / requests
    if (failed === 0)
      return { ...figures, cpu: await countCpu(cpu, target.pid), elasticCpu: await countCpu(elasticCpu, elasticPid) }
    if (tries === TRIES) throw new Error(`${failed} of ${requests} requests failed: ${target.url}${target.paths[0]}`)
  }
}

/** wrk as the client: it takes some 10 µs of CPU per request, so that the figures are those of the service. */
export async function createClient(folder: string): Promise<Client> {
  const { out } = await runCommand(folder, [join(ROOT, 'scripts/system-program'), 'wrk', 'wrk'])
  const script = join(folder, 'requests.lua')
  return async (target, clients, seconds) => {
    await Bun.write(script, writeScript(target))
    // wrk counts slower answers as failed. Its default of two seconds is too short on a busy machine.
    const flags = ['-t1', `-c${clients}`, `-d${seconds}s`, '--timeout', '60s', '-s', script]
    const report = (await runCommand(folder, [out.trim(), ...flags, target.url])).out
    const line = report.split('\n').findLast(each => each.startsWith('{'))
    if (line === undefined) throw new Error(`wrk printed no figures of ${target.url}: ${report}`)
    return JSON.parse(line) as Figures
  }
}

/** Lua code of the requests and the report. The paths contain no quotes and no backslashes. */
function writeScript({ paths, body }: Target): string {
  const post = `wrk.method = "POST"\nwrk.body = [[${body}]]\nwrk.headers["Content-Type"] = "application/json"`
  return `
local paths = { ${paths.map(path => JSON.stringify(path)).join(', ')} }
local at = 0
${body === undefined ? '' : post}
request = function()
  at = at % #paths + 1
  return wrk.format(nil, paths[at])
end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\n{"requests":%d,"perSecond":%.3f,"p50":%.4f,"p99":%.4f,"failed":%d}\\n',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`
}
