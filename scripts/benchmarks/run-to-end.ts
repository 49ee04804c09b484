import { endAll } from './processes.ts'

/**
 * Runs a benchmark to its end, which leaves nothing behind: what it started is stopped, and `cleanUp` removes what it made,
 * also after a signal. Exits with 1 when it failed or was stopped, else with what `process.exitCode` was set to.
 */
export const runToEnd = async (run: () => Promise<void>, cleanUp: () => Promise<void>): Promise<never> => {
  const end = async (): Promise<never> => {
    await endAll()
    await cleanUp()
    process.exit()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      process.exitCode = 1
      void end()
    })
  try {
    await run()
  } catch (error) {
    process.exitCode = 1
    console.error(error)
  }
  return end()
}
