import { nearest, nearestText, shown } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import type { Command, Process } from './command.ts'
import { commands } from './commands.ts'
import { type ExitCode, exitCodeFor } from './exit-code.ts'
import { commandHelp, familyHelp, globalHelp } from './help.ts'
import { describeEnd, readStderrForm } from './last-words.ts'
import { createLog } from './log.ts'
import { parseArguments } from './parse-arguments.ts'
import { readSettings } from './read-settings.ts'
import { refusePasswords } from './refuse-passwords.ts'
import { abandonWhenStopped, LEAVE_MS } from './stop.ts'

/** Runs one command line. A failure is printed to stderr as one message and becomes the exit code. */
export const run = async (args: readonly string[], around: Process): Promise<ExitCode> => {
  try {
    return await dispatch(args, around)
  } catch (error) {
    around.screen.keepBar()
    for (const line of describeEnd(error, readStderrForm(args, around.environment))) around.screen.line(line)
    return exitCodeFor(error)
  }
}

const dispatch = async (args: readonly string[], around: Process): Promise<ExitCode> => {
  const [first, second] = args
  if (first === '--version' || first === 'version') {
    around.out(`iostlens ${around.version}`)
    return 0
  }
  if (first === '--help' || first === '-h' || (first === 'help' && second === undefined)) {
    around.out(globalHelp(commands))
    return 0
  }
  if (first === undefined)
    throw new Failure('usage', 'No command is given.', { help: "'iostlens --help' lists the commands." })
  if (first === 'help') return dispatch([...args.slice(1), '--help'], around)
  const command = commands.find(({ name }) => name === first || name === `${first} ${second}`)
  if (command === undefined) return family(first, args.slice(1), around)
  const rest = args.slice(command.name.split(' ').length)
  return runCommand(command, rest, around)
}

/** Handles a command line that stops after the first word of a two-word command: prints its help, or throws 'usage'. */
const family = (first: string, rest: readonly string[], around: Process): ExitCode => {
  const members = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (members.length === 0) {
    const known = commands.map(({ name }) => name.split(' ')[0] ?? name)
    throw new Failure('usage', `Unknown command ${shown(first)}${nearestText(nearest(first, known)).en}`, {
      help: "'iostlens --help' lists the commands.",
    })
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    around.out(familyHelp(first, members))
    return 0
  }
  const names = members.map(({ name }) => name.slice(first.length + 1))
  const given = rest.find(word => !word.startsWith('-'))
  throw new Failure(
    'usage',
    given === undefined
      ? `'${first}' must be followed by one of: ${names.join(', ')}.`
      : `Unknown command ${shown(`${first} ${given}`)}; '${first}' must be followed by one of: ${names.join(', ')}.`,
    { help: `'iostlens ${first} --help' explains the command.` },
  )
}

const runCommand = async (
  command: Command,
  args: readonly string[],
  { environment, stop, ...around }: Process,
): Promise<ExitCode> => {
  const { flags, words, help } = parseArguments(command.name, command.settings, args)
  if (help) {
    around.out(commandHelp(command))
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
        : `Command '${command.name}' takes ${wanted.length === 0 ? 'no argument' : `only ${wanted.join(' ')}`}; ${shown(extra)} is one too many.`,
      { help: `'iostlens ${command.name} --help' explains the command.` },
    )
  const resolved = readSettings(flags, environment)
  const log = createLog({
    level: resolved.values['log-level'],
    format: resolved.values['log-format'],
    write: around.screen.line,
  })
  const signal = stop()
  return abandonWhenStopped(
    command.run({ ...around, ...resolved, words, log, signal }),
    signal,
    resolved.values.drain + LEAVE_MS,
  )
}
