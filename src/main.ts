import { writeSync } from 'node:fs'
import { describeDropped, describeEnd, readStderrForm } from '#cli/log.ts'
import { run } from '#cli/run.ts'
import { createScreen, lineWriter } from '#cli/stderr.ts'
import { stopSignal } from '#cli/stop.ts'
import { version } from '../package.json'

/** Commit that the program was built from, set by `scripts/build`; empty or absent if unknown. */
declare const BUILD_COMMIT: string | undefined
const commit = typeof BUILD_COMMIT === 'string' ? BUILD_COMMIT : ''

const { stderr, stdout } = process

/** Time in milliseconds for which a stalled reader of the log may delay the exit of the process. */
const LAST_LINES_MS = 1_000
const form = readStderrForm(process.argv.slice(2), process.env)
const log = lineWriter((text, done) => stderr.write(text, done), { dropped: count => describeDropped(count, form) })

// An error that nothing catches is a bug. Its lines have the form of the others, so that a log collector keeps them.
process.on('uncaughtException', error => {
  for (const line of describeEnd(error, form)) log.write(`${line}\n`)
  process.exit(1)
})

// Writes the remaining log lines when the process exits before the event loop can.
process.on('exit', () => {
  const rest = log.takeRest()
  if (rest === '') return
  try {
    writeSync(stderr.fd, rest)
  } catch {
    // Nobody reads stderr any more.
  }
})

// The reader of our output has closed the pipe (`iostlens indices print | head`): not an error.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const code = await run(process.argv.slice(2), {
  version: commit === '' ? version : `${version}+${commit}`,
  environment: process.env,
  out: line => stdout.write(`${line}\n`),
  screen: createScreen({
    write: log.write,
    isTerminal: stderr.isTTY === true,
    // A terminal that does not know its width reports 0.
    columns: () => stderr.columns || 80,
  }),
  droppedLines: log.dropped,
  stop: stopSignal,
  provingProgram: new URL('./proving-thread.ts', import.meta.url),
  writingProgram: new URL('./writing-thread.ts', import.meta.url),
})

// Kept-alive connections must not delay the exit, and text written to a pipe must arrive first.
await log.written(Bun.sleep(LAST_LINES_MS))
stdout.write('', () => process.exit(code))
