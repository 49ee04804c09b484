import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { Call } from './command.ts'
import { connectNode, withCountedStore } from './compose.ts'
import type { ExitCode } from './exit-code.ts'
import { type ProcessMetrics, processMetrics } from './metrics/process-metrics.ts'

/** Node, store and metrics of a command that loads. */
export type Chain = {
  readonly node: Node
  /** URLs of the nodes in the settings. */
  readonly urls: readonly string[]
  readonly store: Store
  readonly metrics: ProcessMetrics
}

/**
 * Runs `work` with the node and the store of the settings, both counted, and closes both afterwards in any
 * case. Throws 'usage' when no node is set.
 * @param serving number of threads that serve beside the load
 */
export const withChain = async (
  { command, serving }: { readonly command: string; readonly serving: number },
  { values, log, provingProgram, writingProgram }: Call,
  work: (chain: Chain) => Promise<ExitCode>,
): Promise<ExitCode> => {
  const metrics = processMetrics(serving)
  const { node: urls } = values
  const node = connectNode(values, log, { provingProgram, counts: metrics.own })
  if (node === undefined || urls === undefined) throw noNode(command)
  return withCountedStore({ values, log, writingProgram, counts: metrics.own }, async store => {
    try {
      return await work({ node, urls, store, metrics })
    } finally {
      node.close()
    }
  })
}

const noNode = (command: string): Failure =>
  new Failure('usage', `Command '${command}' needs a node.`, {
    help: 'Set it with --node URL or IOSTLENS_NODE, such as http://127.0.0.1:30001.',
  })
