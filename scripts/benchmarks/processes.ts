import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '../..')
export const BINARY = join(ROOT, 'dist/iostlens')

const environment = { PATH: process.env['PATH'] ?? '', IOSTLENS_LOG_LEVEL: 'warn' }

export type Running = {
  readonly url: string
  /** Output up to the start of serving. */
  readonly said: string
  readonly pid: number
  readonly startedMs: number
  readonly stop: () => Promise<void>
}

/** Child processes, which are killed when the benchmark ends for any reason. */
const started = new Set<Bun.Subprocess>()
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL')
})
/** Ends all running child processes: no process may write to indices while they are removed. */
export const endAll = async (): Promise<void> => {
  for (const child of started) child.kill('SIGKILL')
  await Promise.all([...started].map(({ exited }) => exited))
}
const spawn = (command: readonly string[], folder: string) => {
  const child = Bun.spawn([...command], { cwd: folder, env: environment, stdout: 'pipe', stderr: 'inherit' })
  started.add(child)
  void child.exited.then(() => started.delete(child))
  return child
}

/** Starts a command whose log is read while it runs. */
export const watched = (folder: string, command: readonly string[]) => {
  const options = { cwd: folder, env: environment, stdout: 'ignore', stderr: 'pipe' } as const
  const child = Bun.spawn([...command], options)
  started.add(child)
  const memory = memoryOf(child.pid)
  let said = ''
  const lines = async function* (): AsyncGenerator<string, void> {
    for await (const line of linesOf(child.stderr)) {
      said = line
      yield line
    }
  }
  return {
    pid: child.pid,
    /** Samples of resident memory so far, MB. */
    memory: memory.samples,
    lines: lines(),
    /** Asks the command to stop, as an operator would. */
    end: (): void => child.kill('SIGTERM'),
    /** Throws, with the last line of the log, when the exit code is not 0. */
    ended: child.exited.then(code => {
      started.delete(child)
      memory.stop()
      if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${said}`)
    }),
  }
}

/** Starts a command that serves until it is stopped; resolves when it has printed its address. */
export const serving = async (folder: string, command: readonly string[]): Promise<Running> => {
  const start = performance.now()
  const child = spawn(command, folder)
  let said = ''
  const reader = child.stdout.getReader()
  let url: string | undefined
  while (url === undefined) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`${command.join(' ')} ended: ${said}`)
    said += new TextDecoder().decode(value)
    url = /http:\/\/[\d.]+:\d+/.exec(said)?.[0]
  }
  return {
    url,
    said,
    pid: child.pid,
    startedMs: performance.now() - start,
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/** Starts a command that prints a line when it is ready, and then answers each line of its stdin with one line. */
export const talking = async (command: readonly string[]) => {
  const child = Bun.spawn([...command], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  started.add(child)
  void child.exited.then(() => started.delete(child))
  const lines = linesOf(child.stdout)
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error(`${command.join(' ')} ended.`)
    return value
  }
  await next()
  return {
    ask: (): Promise<string> => {
      child.stdin.write('\n')
      child.stdin.flush()
      return next()
    },
    stop: async (): Promise<void> => {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

const linesOf = async function* (stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of stream) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** The cost of a command from start to end. */
export type Cost = {
  readonly seconds: number
  readonly cpu: number
  /** Samples of resident memory during the run, MB, evenly spread. */
  readonly memory: readonly number[]
  /** Output on stdout. */
  readonly out: string
}

/** Runs a command to its end; throws when the exit code is not 0. */
export const running = async (folder: string, command: readonly string[]): Promise<Cost> => {
  const start = performance.now()
  const child = spawn(command, folder)
  const memory = memoryOf(child.pid)
  const out = await new Response(child.stdout).text()
  const code = await child.exited
  const samples = memory.stop()
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`)
  return {
    seconds: (performance.now() - start) / 1_000,
    cpu: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
    memory: samples,
    out,
  }
}

/** Output of a command on stdout; throws when the exit code is not 0. */
export const outputOf = async (folder: string, command: readonly string[]): Promise<string> =>
  (await running(folder, command)).out

/** Interval of memory samples: twice a second is enough for a value that should stay constant for minutes. */
const SAMPLE_MS = 500

/** Samples the resident memory of a process until `stop`, in MB. */
export const memoryOf = (pid: number) => {
  const samples: number[] = []
  const look = async (): Promise<void> => {
    const status = await Bun.file(`/proc/${pid}/status`)
      .text()
      .catch(() => '')
    const kib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0)
    // Before `exec`, the child process has almost no memory of its own.
    if (kib > 10_000) samples.push(kib / 1_024)
  }
  void look()
  const timer = setInterval(look, SAMPLE_MS)
  return {
    samples,
    stop: (): readonly number[] => {
      clearInterval(timer)
      return samples
    },
  }
}

/** Clock ticks per second in /proc/PID/stat (`getconf CLK_TCK`; 100 on Linux). */
const TICKS = 100

/** CPU seconds used by a process so far; undefined: not a process of this machine. */
export const cpuOf = async (pid: number | undefined): Promise<number | undefined> => {
  if (pid === undefined) return undefined
  const stat = await Bun.file(`/proc/${pid}/stat`)
    .text()
    .catch(() => undefined)
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / TICKS
}

/** Creates an API key with limits too high to matter here. */
export const unlimitedKey = async (folder: string, store: string, binary = BINARY): Promise<string> => {
  const limits = ['--per-second', '1000000', '--per-day', '1000000000']
  const { out } = await running(folder, [binary, 'keys', 'add', 'benchmark', '--store', store, ...limits])
  return out.trim().split('\n').at(-1) ?? ''
}
