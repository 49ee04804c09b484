import type { ProofLevel } from '#chain/block.ts'
import type { CliFolder, Running } from '../support/processes/cli-process.ts'
import type { Causes, Journal } from './causes.ts'

/** The messages of a command that ended or paused, one after the other. */
export const saidIn = (err: string): string =>
  err
    .split('\n')
    .filter(line => /^(?:iostlens: | {2}\S)/.test(line) || /\b(?:WARN|ERROR|warn|error)\b/.test(line))
    .slice(-6)
    .join(' | ')

const COMMAND =
  /\biostlens (repair|verify|load|indices create|indices check|indices migrate)((?: --[a-z-]+(?: URL\b| https?:\/\/[^\s.,"']+(?:[.,][^\s.,"']+)*)?)*)/

/** The words of the first command named by a message, with `URL` where the operator is to give one. undefined: none. */
export function remedyIn(text: string): readonly string[] | undefined {
  const [, command, options = ''] = COMMAND.exec(text) ?? []
  return command === undefined ? undefined : `${command}${options}`.trim().split(/\s+/)
}

type LoaderParts = {
  readonly name: string
  readonly folder: CliFolder
  readonly journal: Journal
  readonly causes: Causes
  /** The earliest mark of a cause that may explain the loader's end. */
  readonly mark: () => number
  readonly random: () => number
  readonly environment: Readonly<Record<string, string>>
  readonly remedy: (words: readonly string[]) => Promise<void>
}

/** Without a code: the loader runs on, but a message names a command to run. */
type Ended = { readonly code?: number; readonly err: string }

const LOOK_MS = 100

async function namesCommand(running: Running): Promise<Ended> {
  for (;;) {
    const err = running.logged()
    if (remedyIn(saidIn(err)) !== undefined) return { err }
    await Bun.sleep(LOOK_MS)
  }
}

/** Pauses before a restart. Like a supervisor, it restarts at once, then ever later while the loader keeps failing. */
const PAUSE_MS = { least: 100, most: 2_000 }

export function keepLoading(parts: LoaderParts) {
  const { name, folder, journal, causes, random } = parts
  let [stopping, killing, failures, remedies] = [false, false, 0, 0]
  let next: Readonly<Record<string, string>> = {}
  let level: ProofLevel = 'signed'
  let running: Running | undefined
  let url: string | undefined
  const start = (): Running => {
    const serves = random() < 0.4
    const words = serves ? ['up', '--listen', '127.0.0.1:0'] : ['load']
    const child = folder.start(words, { ...parts.environment, IOSTLENS_PROVE: level, ...next })
    next = {}
    journal.note(`${name}: ${words[0]} started, ${level}`)
    journal.count(`${name}: loaders started`)
    if (serves)
      child.firstLine.then(
        line => {
          if (child === running && line.startsWith('http')) url = line.trim()
        },
        () => undefined,
      )
    return child
  }
  /** The end of a loader must be explained by a named command or by a cause in force. */
  const judge = async ({ code, err }: Ended): Promise<void> => {
    const said = saidIn(err)
    const remedy = code === 0 ? undefined : remedyIn(said)
    const cause = causes.since(parts.mark()).find(({ says }) => says.test(said))
    journal.note(`${name}: loader ended with ${code}: ${said}`)
    journal.count(`${name}: loader ended ${code} (${cause?.name ?? (remedy ? 'a command is named' : 'unexplained')})`)
    if (remedy !== undefined) {
      remedies++
      await parts.remedy(remedy)
    } else if (cause === undefined) journal.wrong(`${name}: the loader ended with ${code}: ${said}`)
  }
  let held: Promise<void> | undefined
  const supervise = async (): Promise<void> => {
    while (!stopping) {
      await held
      killing = false
      running = start()
      const outcome = await Promise.race([running.ended, namesCommand(running)])
      if (outcome.code === undefined) {
        running.kill('SIGTERM')
        await running.ended
      }
      url = undefined
      if (stopping) return
      // A loader whose environment makes it kill itself ends with 137, too.
      if (outcome.code === 137 || killing) {
        journal.count(`${name}: loaders killed`)
        journal.note(`${name}: loader killed`)
        failures = 0
        continue
      }
      await judge(outcome)
      await Bun.sleep(Math.min(PAUSE_MS.most, PAUSE_MS.least * 2 ** failures++))
    }
  }
  const supervised = supervise()
  const end = (signal: 'SIGKILL' | 'SIGTERM'): void => {
    killing = true
    url = undefined
    running?.kill(signal)
  }
  return {
    kill: () => end('SIGKILL'),
    prove: (asked: ProofLevel): void => {
      level = asked
      end('SIGKILL')
    },
    logged: () => running?.logged() ?? '',
    /** Address of the loader's service, while it serves (`up`). */
    url: () => url,
    prepareNext: (environment: typeof next): void => {
      next = environment
    },
    /** Ends the loader, and starts none until the returned function is called. */
    hold: async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      end('SIGTERM')
      await running?.ended
      return () => {
        held = undefined
        resolve()
      }
    },
    stop: async () => {
      stopping = true
      running?.kill('SIGTERM')
      await supervised
    },
    remedies: () => remedies,
  }
}
