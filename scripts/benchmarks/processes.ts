import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '../..')
export const BINARY = join(ROOT, 'dist/iostlens')

/** Child processes, which are killed when the benchmark ends for any reason. */
const started = new Set<Bun.Subprocess>()

/** Ends all running child processes: no process may write to indices while they are removed. */
export async function endProcesses(): Promise<void> {
  for (const child of started) child.kill('SIGKILL')
  await Promise.all([...started].map(({ exited }) => exited))
}

function startProcess(folder: string, command: readonly string[]) {
  const env = { PATH: process.env['PATH'] ?? '', IOSTLENS_LOG_LEVEL: 'warn' }
  const child = Bun.spawn([...command], { cwd: folder, env, stdout: 'pipe', stderr: 'inherit' })
  started.add(child)
  void child.exited.then(() => started.delete(child))
  return child
}

export type Server = {
  readonly url: string
  readonly pid: number
  /** Samples of resident memory so far, MB. */
  readonly memory: readonly number[]
  readonly stop: () => Promise<void>
}

/** Starts a command that serves until it is stopped; resolves when it has printed its address. */
export async function startServer(folder: string, command: readonly string[]): Promise<Server> {
  const child = startProcess(folder, command)
  let text = ''
  const reader = child.stdout.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`${command.join(' ')} ended: ${text}`)
    text += new TextDecoder().decode(value)
    const url = /http:\/\/[\d.]+:\d+/.exec(text)?.[0]
    if (url === undefined) continue
    const memory = sampleMemory(child.pid)
    const stop = async (): Promise<void> => {
      memory.stop()
      child.kill('SIGTERM')
      await child.exited
    }
    return { url, pid: child.pid, memory: memory.samples, stop }
  }
}

/** The cost of a command from start to end. */
type Cost = {
  readonly seconds: number
  /** CPU seconds. */
  readonly cpu: number
  /** Maximum resident memory, MB. */
  readonly peak: number
  readonly out: string
}

/** Runs a command to its end; throws when the exit code is not 0. */
export async function runCommand(folder: string, command: readonly string[]): Promise<Cost> {
  const start = performance.now()
  const child = startProcess(folder, command)
  const out = await new Response(child.stdout).text()
  const code = await child.exited
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`)
  const usage = child.resourceUsage()
  return {
    seconds: (performance.now() - start) / 1_000,
    cpu: Number(usage?.cpuTime.total ?? 0) / 1e6,
    peak: (usage?.maxRSS ?? 0) / 1e6,
    out,
  }
}

/** Interval of memory samples: twice a second is enough for a value that should stay constant for minutes. */
const SAMPLE_MS = 500

function sampleMemory(pid: number) {
  const samples: number[] = []
  const timer = setInterval(async () => {
    const status = await readProcFile(pid, 'status')
    const kib = Number(/VmRSS:\s+(\d+)/.exec(status ?? '')?.[1] ?? 0)
    if (kib > 0) samples.push((kib * 1_024) / 1e6)
  }, SAMPLE_MS)
  return { samples, stop: () => clearInterval(timer) }
}

/** Clock ticks per second in /proc/PID/stat (`getconf CLK_TCK`; 100 on Linux). */
const TICKS = 100

/** CPU seconds used by a process so far; undefined: not a process of this machine. */
export async function readCpu(pid: number | undefined): Promise<number | undefined> {
  const stat = pid === undefined ? undefined : await readProcFile(pid, 'stat')
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / TICKS
}

function readProcFile(pid: number, name: string): Promise<string | undefined> {
  return Bun.file(`/proc/${pid}/${name}`)
    .text()
    .catch(() => undefined)
}
