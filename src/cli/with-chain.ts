import { Failure } from '#failure/failure.ts'
import { createCounters } from '#metrics/counters.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { CommandCall } from './command.ts'
import { connectNode, withCountedStore } from './compose.ts'
import type { ExitCode } from './exit-code.ts'
import { catalogue, type MetricCounts } from './metrics/catalogue.ts'

/** Node, store and counters of a command that loads. */
export type Chain = {
  readonly node: Node
  /** URLs of the nodes in the settings. */
  readonly urls: readonly string[]
  readonly store: Store
  readonly counts: MetricCounts
}

/**
 * Runs `work` with the node and the store of the settings, both counted, and closes both afterwards in any
 * case. Throws 'usage' when no node is set.
 */
export async function withChain(
  command: string,
  { values, log, provingProgram, writingProgram }: CommandCall,
  work: (chain: Chain) => Promise<ExitCode>,
): Promise<ExitCode> {
  const counts = createCounters(catalogue)
  const { node: urls } = values
  const node = connectNode(values, log, { provingProgram, counts })
  if (node === undefined || urls === undefined) throw noNode(command)
  return withCountedStore({ values, log, writingProgram, counts }, async store => {
    try {
      return await work({ node, urls, store, counts })
    } finally {
      node.close()
    }
  })
}

const noNode = (command: string): Failure =>
  new Failure('usage', `Command '${command}' needs a node.`, {
    help: 'Set it with --node URL or IOSTLENS_NODE, such as http://127.0.0.1:30001.',
  })
