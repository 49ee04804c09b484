import { join } from 'node:path'
import { outputOf } from './processes.ts'

/** One kind of request, sent again and again. */
export type Target = {
  /** `http://HOST:PORT` */
  readonly url: string
  /** Paths with their queries, taken in turns. */
  readonly paths: readonly string[]
  /** Body of a POST; absent: a GET. */
  readonly body?: string
}

/** What clients of one target saw. */
export type Load = {
  readonly requests: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Answers that were not 2xx, and requests without an answer. */
  readonly failed: number
}

/** Sends requests to a target for a while, as many at once as there are clients. */
export type Client = {
  readonly name: string
  readonly load: (target: Target, options: LoadOptions) => Promise<Load>
}

export type LoadOptions = {
  readonly clients: number
  readonly seconds: number
  /** Answers after which no more is asked, although the seconds are not over: rates are then no figures. */
  readonly most?: number | undefined
}

/**
 * wrk takes some 10 µs of CPU a request, so that what is measured is the service; it is a package of Debian. Without it a
 * process of Bun asks, which takes as long as the service itself does.
 */
export const leanClient = (folder: string): Client => {
  const wrk = Bun.which('wrk')
  let runs = 0
  return {
    name:
      wrk === null ? "Bun's fetch, because wrk is not installed: it takes as much CPU as the service" : 'wrk',
    load: async (target, { clients, seconds, most }) => {
      const file = join(folder, `requests-${++runs}`)
      await Bun.write(`${file}.json`, JSON.stringify(target))
      await Bun.write(`${file}.lua`, wrkScript(target, most))
      const command =
        wrk === null
          ? [
              process.execPath,
              join(import.meta.dir, 'plain-client.ts'),
              `${file}.json`,
              `${clients}`,
              `${seconds}`,
              `${most ?? ''}`,
            ]
          : [
              wrk,
              '-t1',
              `-c${clients}`,
              `-d${seconds}s`,
              '--timeout',
              TIMEOUT,
              '-s',
              `${file}.lua`,
              target.url,
            ]
      const out = await outputOf(folder, command)
      const line = out.split('\n').findLast(each => each.startsWith('{'))
      if (line === undefined) throw new Error(`${command.join(' ')} printed no figures: ${out}`)
      return JSON.parse(line) as Load
    },
  }
}

/** wrk counts an answer that takes longer as failed; after its own two seconds it would on a busy machine. */
const TIMEOUT = '60s'

/** Text of Lua; the paths have no quotes nor backslashes. */
const wrkScript = ({ paths, body }: Target, most: number | undefined): string => `
local paths = { ${paths.map(path => JSON.stringify(path)).join(', ')} }
local at = 0
${body === undefined ? '' : `wrk.method = "POST"\nwrk.body = [[${body}]]\nwrk.headers["Content-Type"] = "application/json"`}
${most === undefined ? '' : `local left = ${most}\nresponse = function()\n  left = left - 1\n  if left == 0 then wrk.thread:stop() end\nend`}
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
