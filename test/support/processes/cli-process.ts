import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROGRAM } from './program.ts'

export const { PATH = '' } = process.env

export type CliFolder = Awaited<ReturnType<typeof cliFolder>>
export type Running = ReturnType<typeof spawnIn>
export type Outcome = { readonly code: number; readonly out: string; readonly err: string }

/** The command line as processes in a folder that `await using` removes, after it has ended them. */
export async function cliFolder(program = PROGRAM) {
  const path = await mkdtemp(join(tmpdir(), 'iostlens-cli-'))
  const running = new Set<Running>()
  const start = (args: readonly string[], environment: Readonly<Record<string, string>> = {}): Running => {
    const child = spawnIn(path, [...program, ...args], environment)
    running.add(child)
    return child
  }
  return {
    path,
    start,
    run: (...how: Parameters<typeof start>): Promise<Outcome> => start(...how).ended,
    [Symbol.asyncDispose]: async (): Promise<void> => {
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
) {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const out = heard(child.stdout)
  const err = heard(child.stderr)
  const ended = (async (): Promise<Outcome> => {
    const [code] = await Promise.all([child.exited, out.ended, err.ended])
    return { code, out: out.text(), err: err.text() }
  })()
  const firstLine = out.waitFor('\n').then(() => out.text().slice(0, out.text().indexOf('\n')))
  // Only some callers read this output.
  firstLine.catch(() => undefined)
  return {
    /** Resolves with the first line on stdout. Throws when the command ends without one. */
    firstLine,
    /** Resolves as soon as the whole stdout contains the text. Throws when the command ends without it. */
    says: out.waitFor,
    logs: err.waitFor,
    said: out.text,
    logged: err.text,
    kill: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void => child.kill(signal),
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
