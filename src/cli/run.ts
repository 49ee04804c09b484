import { findNearest, nearestText, quoteGiven } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import { archiveCheck, archiveWrite } from './archive/write.ts'
import { auditCommands } from './auditing.ts'
import { type Command, type ExitCode, type Process, toExitCode } from './command.ts'
import { doctor } from './doctor.ts'
import { health } from './health.ts'
import { commandHelp, config, familyHelp, globalHelp } from './help.ts'
import { indexCommands } from './indices.ts'
import { keyCommands } from './keys.ts'
import { load, up } from './load.ts'
import { createLog, describeEnd, readStderrForm } from './log.ts'
import { parseArguments, readSettings, refusePasswords } from './read-settings.ts'
import { serve } from './serving.ts'
import { status } from './status.ts'
import { abandonWhenStopped } from './stop.ts'
import { transferCommands } from './transfer.ts'

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  up,
  load,
  serve,
  ...keyCommands,
  ...indexCommands,
  archiveWrite,
  archiveCheck,
  ...transferCommands,
  status,
  ...auditCommands,
  health,
  doctor,
  config,
]

/**
 * Milliseconds to leave, beside `--drain`: 3 s for the current batch of a load, 3.5 s for the other pauses of a service that
 * stops, 0.5 s for the height in the last log line, and the release of the store. A supervisor waits ten seconds
 * longer than `--drain` (docs/operating.md).
 */
const LEAVE_MS = 9_000

/** Runs one command line. A failure is printed to stderr as one message and becomes the exit code. */
export async function run(args: readonly string[], process: Process): Promise<ExitCode> {
  try {
    return await dispatch(args, process)
  } catch (error) {
    process.screen.keepBar()
    for (const line of describeEnd(error, readStderrForm(args, process.environment))) process.screen.line(line)
    return toExitCode(error)
  }
}

/** The remedy for a command line without a known command. */
const LISTED = "'iostlens --help' lists the commands."

async function dispatch(args: readonly string[], process: Process): Promise<ExitCode> {
  const [first, second] = args
  if (first === '--version' || first === 'version') {
    process.out(`iostlens ${process.version}`)
    return 0
  }
  if (first === '--help' || first === '-h' || (first === 'help' && second === undefined)) {
    process.out(globalHelp(commands))
    return 0
  }
  if (first === undefined) throw new Failure('usage', 'No command is given.', { help: LISTED })
  if (first === 'help') return dispatch([...args.slice(1), '--help'], process)
  const command = commands.find(({ name }) => name === first || name === `${first} ${second}`)
  if (command === undefined) return runFamily(first, args.slice(1), process)
  const rest = args.slice(command.name.split(' ').length)
  return runCommand(command, rest, process)
}

/** Handles a command line that stops after the first word of a two-word command: prints its help, or throws 'usage'. */
function runFamily(first: string, rest: readonly string[], process: Process): ExitCode {
  const members = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (members.length === 0) {
    const known = commands.map(({ name }) => name.split(' ')[0] ?? name)
    throw new Failure('usage', `Unknown command ${quoteGiven(first)}${nearestText(findNearest(first, known)).en}`, {
      help: LISTED,
    })
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    process.out(familyHelp(first, members))
    return 0
  }
  const names = members.map(({ name }) => name.slice(first.length + 1))
  const given = rest.find(word => !word.startsWith('-'))
  throw new Failure(
    'usage',
    given === undefined
      ? `'${first}' must be followed by one of: ${names.join(', ')}.`
      : `Unknown command ${quoteGiven(`${first} ${given}`)}; '${first}' must be followed by one of: ${names.join(', ')}.`,
    { help: `'iostlens ${first} --help' explains the command.` },
  )
}

async function runCommand(
  command: Command,
  args: readonly string[],
  { environment, stop, ...process }: Process,
): Promise<ExitCode> {
  const { flags, words, help } = parseArguments(command.name, command.settings, args)
  if (help) {
    process.out(commandHelp(command))
    return 0
  }
  refusePasswords({ flags, words })
  const wanted = command.words ?? []
  const missing = wanted[words.length]
  const extra = words[wanted.length]
  if (missing !== undefined || extra !== undefined)
    throw new Failure(
      'usage',
      extra === undefined
        ? `Command '${command.name}' needs the argument ${missing}.`
        : `Command '${command.name}' takes ${wanted.length === 0 ? 'no argument' : `only ${wanted.join(' ')}`}; ${quoteGiven(extra)} is one too many.`,
      { help: `'iostlens ${command.name} --help' explains the command.` },
    )
  const resolved = readSettings(flags, environment)
  const log = createLog({
    level: resolved.values['log-level'],
    format: resolved.values['log-format'],
    write: process.screen.line,
  })
  const signal = stop()
  return abandonWhenStopped(
    command.run({ ...process, ...resolved, words, log, signal }),
    signal,
    resolved.values.drain + LEAVE_MS,
  )
}
