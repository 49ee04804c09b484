import { endAll } from './processes.ts'

/**
 * Runs a benchmark to its end and cleans up, also after a signal: processes that it started are stopped, and `cleanUp`
 * removes its data. Exits with 1 when it failed or was stopped, else with the value of `process.exitCode`.
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
