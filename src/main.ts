import { writeSync } from 'node:fs'
import { lineWriter } from '#cli/line-writer.ts'
import { run } from '#cli/run.ts'
import { createScreen } from '#cli/screen.ts'
import { stopSignal } from '#cli/stop.ts'
import { version } from '../package.json'

const { stderr, stdout } = process

/** A reader of the log that has stalled keeps the process no longer than this at its end, in milliseconds. */
const LAST_LINES_MS = 1_000
const log = lineWriter((text, done) => stderr.write(text, done), {
  dropped: count => `${count} log lines were dropped because they were read too slowly.\n`,
})

// What the loop has no turn left for, where a process ends in the midst of it.
process.on('exit', () => {
  const rest = log.takeRest()
  if (rest === '') return
  try {
    writeSync(stderr.fd, rest)
  } catch {
    // Nobody reads it.
  }
})

// Whoever read our output has gone (`iostlens indices print | head`): not a fault.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const code = await run(process.argv.slice(2), {
  version,
  environment: process.env,
  out: line => stdout.write(`${line}\n`),
  screen: createScreen({
    write: log.write,
    isTerminal: stderr.isTTY === true,
    // 0 where a terminal does not say how wide it is.
    columns: () => stderr.columns || 80,
  }),
  stop: stopSignal,
})

// Connections kept alive must not keep the process; what was written to a pipe must arrive first.
await log.written(Bun.sleep(LAST_LINES_MS))
stdout.write('', () => process.exit(code))
