import { writeSync } from 'node:fs'
import { run } from '#cli/run.ts'
import { createScreen, droppedLines, lineWriter } from '#cli/stderr.ts'
import { stopSignal } from '#cli/stop.ts'
import { version } from '../package.json'

/** Commit the program was built from, by `scripts/build`; empty or absent where that is not known. */
declare const BUILD_COMMIT: string | undefined
const commit = typeof BUILD_COMMIT === 'string' ? BUILD_COMMIT : ''

const { stderr, stdout } = process

/** A reader of the log that has stalled keeps the process no longer than this at its end, in milliseconds. */
const LAST_LINES_MS = 1_000
const log = lineWriter((text, done) => stderr.write(text, done), {
  dropped: droppedLines,
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
  version: commit === '' ? version : `${version}+${commit}`,
  environment: process.env,
  out: line => stdout.write(`${line}\n`),
  screen: createScreen({
    write: log.write,
    isTerminal: stderr.isTTY === true,
    // 0 where a terminal does not say how wide it is.
    columns: () => stderr.columns || 80,
  }),
  droppedLines: log.dropped,
  stop: stopSignal,
  threadProgram: new URL('./serving-thread.ts', import.meta.url),
  provingProgram: new URL('./proving-thread.ts', import.meta.url),
  writingProgram: new URL('./writing-thread.ts', import.meta.url),
})

// Connections kept alive must not keep the process; what was written to a pipe must arrive first.
await log.written(Bun.sleep(LAST_LINES_MS))
stdout.write('', () => process.exit(code))
