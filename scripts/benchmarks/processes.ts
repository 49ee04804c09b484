import { join } from 'node:path'
import { memoryOf } from './measure.ts'

const ROOT = join(import.meta.dir, '../..')
export const BINARY = join(ROOT, 'dist/iostlens')
export const RECORDING = join(ROOT, 'test/chain/devnet')

const environment = { PATH: process.env['PATH'] ?? '', IOSTLENS_LOG_LEVEL: 'warn' }

/** A command of the binary that serves until it is stopped; ready when it has said where. */
export const serving = async (folder: string, args: readonly string[]) => {
  const start = performance.now()
  const child = Bun.spawn([BINARY, ...args], {
    cwd: folder,
    env: environment,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  // Whatever ends the benchmark ends its services.
  process.on('exit', () => child.kill('SIGKILL'))
  let said = ''
  const reader = child.stdout.getReader()
  let url: string | undefined
  while (url === undefined) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`${args[0]} ended: ${said}`)
    said += new TextDecoder().decode(value)
    url = /http:\/\/[\d.]+:\d+/.exec(said)?.[0]
  }
  return {
    url,
    pid: child.pid,
    startedMs: performance.now() - start,
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/** Runs a command to its end; seconds, CPU seconds and the most memory it held, MB. */
export const running = async (folder: string, args: readonly string[]) => {
  const start = performance.now()
  const child = Bun.spawn([BINARY, ...args], {
    cwd: folder,
    env: environment,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  let most = 0
  const watch = setInterval(async () => {
    most = Math.max(most, await memoryOf(child.pid).catch(() => 0))
  }, 100)
  const code = await child.exited
  clearInterval(watch)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  const usage = child.resourceUsage()
  return {
    seconds: (performance.now() - start) / 1_000,
    cpu: Number(usage?.cpuTime.total ?? 0) / 1e6,
    memory: most,
  }
}

/** A key without limits that matter here. */
export const unlimitedKey = async (folder: string, store: string): Promise<string> => {
  const args = [
    'keys',
    'add',
    'benchmark',
    '--store',
    store,
    '--per-second',
    '1000000',
    '--per-day',
    '1000000000',
  ]
  const child = Bun.spawn([BINARY, ...args], {
    cwd: folder,
    env: environment,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return (await new Response(child.stdout).text()).trim().split('\n').at(-1) ?? ''
}
