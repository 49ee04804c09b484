import { Failure } from '#failure/failure.ts'

const USAGE = 2

/** A node served by a command until the command is stopped. */
type Served = {
  /** The line on stdout that gives the address. */
  readonly said: string
  stop(): Promise<void>
}

/** Runs a command that serves a node until SIGINT or SIGTERM. An error of its words ends with exit code 2. */
export async function runNode(
  name: string,
  start: (words: readonly string[]) => Promise<Served | string>,
): Promise<void> {
  const say = (text: string): void => void process.stdout.write(`${text.trimEnd()}\n`)
  try {
    const node = await start(process.argv.slice(2))
    if (typeof node === 'string') {
      say(node)
      return
    }
    const stopped = new Promise(resolve => {
      process.once('SIGINT', resolve)
      process.once('SIGTERM', resolve)
    })
    say(node.said)
    await stopped
    await node.stop()
  } catch (error) {
    // `parseArgs` throws a TypeError with a code.
    const isUsage = error instanceof Failure || (error instanceof TypeError && 'code' in error)
    if (!isUsage) throw error
    process.stderr.write(`${name}: ${error.message}\n`)
    process.exitCode = USAGE
  }
}
