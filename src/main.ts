import { run } from '#cli/run.ts'
import { createScreen } from '#cli/screen.ts'
import { stopSignal } from '#cli/stop.ts'
import { version } from '../package.json'

const { stderr, stdout } = process

// Whoever read our output has gone (`iostlens indices print | head`): not a fault.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const code = await run(process.argv.slice(2), {
  version,
  environment: process.env,
  out: line => stdout.write(`${line}\n`),
  screen: createScreen({
    write: text => stderr.write(text),
    isTerminal: stderr.isTTY === true,
    // 0 where a terminal does not say how wide it is.
    columns: () => stderr.columns || 80,
  }),
  stop: stopSignal,
})

// Connections kept alive must not keep the process; what was written to a pipe must arrive first.
stdout.write('', () => process.exit(code))
