import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROGRAM } from './program.ts'

export const { PATH = '' } = process.env

/** The command line as a process, in a folder of its own. */
export type CliFolder = AsyncDisposable & {
  readonly path: string
  /** Starts a command, which runs until it ends or is stopped. */
  start(args: readonly string[], environment?: Readonly<Record<string, string>>): Running
  /** Starts a command and waits for its end. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Outcome>
}

export type Outcome = { readonly code: number; readonly out: string; readonly err: string }

export type Running = {
  /** Resolves with the first line on stdout. Throws when the command ends without one. */
  readonly firstLine: Promise<string>
  /** Resolves as soon as the whole stdout contains the text. Throws when the command ends without it. */
  says(text: string): Promise<void>
  /** The same for stderr. */
  logs(text: string): Promise<void>
  /** Stdout so far. */
  said(): string
  /** Stderr so far. */
  logged(): string
  kill(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void
  readonly ended: Promise<Outcome>
}

/** A folder that `await using` removes, after it has ended the processes that run in it. */
export async function cliFolder(program = PROGRAM): Promise<CliFolder> {
  const path = await mkdtemp(join(tmpdir(), 'iostlens-cli-'))
  const running = new Set<Running>()
  const start: CliFolder['start'] = (args, environment = {}) => {
    const child = spawnIn(path, [...program, ...args], environment)
    running.add(child)
    return child
  }
  return {
    path,
    start,
    run: (args, environment) => start(args, environment).ended,
    [Symbol.asyncDispose]: async () => {
      for (const child of running) child.kill('SIGKILL')
      await Promise.all([...running].map(({ ended }) => ended))
      await rm(path, { recursive: true })
    },
  }
}

/** The environment contains only the given variables and PATH. */
export function spawnIn(
  folder: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Running {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const out = heard(child.stdout)
  const err = heard(child.stderr)
  const ended = (async () => {
    const [code] = await Promise.all([child.exited, out.ended, err.ended])
    return { code, out: out.text(), err: err.text() }
  })()
  const firstLine = out.waitFor('\n').then(() => out.text().slice(0, out.text().indexOf('\n')))
  // Only some callers read this output.
  firstLine.catch(() => undefined)
  return {
    firstLine,
    says: out.waitFor,
    logs: err.waitFor,
    said: out.text,
    logged: err.text,
    kill: signal => child.kill(signal),
    ended,
  }
}

/** The text so far of a stream that is still open. */
function heard(stream: ReadableStream<Uint8Array>) {
  let text = ''
  let over = false
  let waiting: (() => void)[] = []
  const wake = (): void => {
    const woken = waiting
    waiting = []
    for (const each of woken) each()
  }
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const part of stream) {
      text += decoder.decode(part, { stream: true })
      wake()
    }
    over = true
    wake()
  })()
  return {
    ended,
    text: () => text,
    waitFor: async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        if (over) throw new Error(`Ended without ${JSON.stringify(wanted)}:\n${text}`)
        await new Promise<void>(resolve => waiting.push(resolve))
      }
    },
  }
}
