import { join } from 'node:path'
import { outputOf, ROOT } from './processes.ts'

/** A kind of request that is sent repeatedly. */
export type Target = {
  /** `http://HOST:PORT` */
  readonly url: string
  /** Paths with their queries, sent in rotation. */
  readonly paths: readonly string[]
  /** Body of a POST; absent: a GET. */
  readonly body?: string
}

/** Measurements of the clients of one target. */
export type Load = {
  readonly requests: number
  readonly perSecond: number
  /** Median in milliseconds; `p99` too. */
  readonly p50: number
  readonly p99: number
  /** Number of answers other than 2xx, and of requests without an answer. */
  readonly failed: number
}

/** Sends requests to a target for some time, with as many in flight as there are clients. */
export type Client = { readonly load: (target: Target, options: LoadOptions) => Promise<Load> }

export type LoadOptions = {
  readonly clients: number
  readonly seconds: number
  /** Maximum number of answers, after which the load ends early; the rates are then meaningless. */
  readonly most?: number | undefined
}

/** wrk as the client: it takes some 10 µs of CPU per request, so that the figures are those of the service. */
export const leanClient = async (folder: string): Promise<Client> => {
  const wrk = (await outputOf(folder, [join(ROOT, 'scripts/system-program'), 'wrk', 'wrk'])).trim()
  let runs = 0
  return {
    load: async (target, { clients, seconds, most }) => {
      const script = join(folder, `requests-${++runs}.lua`)
      await Bun.write(script, wrkScript(target, most))
      const load = ['-t1', `-c${clients}`, `-d${seconds}s`, '--timeout', TIMEOUT, '-s', script]
      const out = await outputOf(folder, [wrk, ...load, target.url])
      const line = out.split('\n').findLast(each => each.startsWith('{'))
      if (line === undefined) throw new Error(`wrk printed no figures of ${target.url}: ${out}`)
      return JSON.parse(line) as Load
    },
  }
}

/** wrk counts slower answers as failed. Its default of two seconds is too short on a busy machine. */
const TIMEOUT = '60s'

/**
 * Lua code that ends wrk after some answers. wrk otherwise sleeps for its full time; only a signal ends that
 * sleep, after which it reports as usual.
 */
const endAfter = (answers: number): string => `
local ffi = require("ffi")
ffi.cdef("int getpid(void); int kill(int process, int signal);")
local SIGINT = 2
local left = ${answers}
response = function()
  left = left - 1
  if left > 0 then return end
  wrk.thread:stop()
  ffi.C.kill(ffi.C.getpid(), SIGINT)
end`

/** Lua code of the requests and the report. The paths contain no quotes and no backslashes. */
const wrkScript = ({ paths, body }: Target, most: number | undefined): string => `
local paths = { ${paths.map(path => JSON.stringify(path)).join(', ')} }
local at = 0
${body === undefined ? '' : `wrk.method = "POST"\nwrk.body = [[${body}]]\nwrk.headers["Content-Type"] = "application/json"`}
${most === undefined ? '' : endAfter(most)}
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
