import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { systemClock } from '#time/clock.ts'
import type { DigestOptions } from '#transfer/digest.ts'
import type { CommandCall } from './command.ts'
import { connectNode } from './compose.ts'
import { stageProgress } from './progress.ts'

/** Runs work on whole stores with a progress display. Throws 'deadline' when it was stopped before its end. */
export async function withProgress<T>(
  { screen, log, signal }: Pick<CommandCall, 'screen' | 'log' | 'signal'>,
  doing: { readonly bar: string; readonly log: string },
  work: (how: DigestOptions) => Promise<T>,
): Promise<T> {
  try {
    const onProgress = stageProgress({ screen, log, now: systemClock.elapsed, doing })
    return await work({ signal, onProgress })
  } catch (error) {
    if (signal.aborted)
      throw new Failure('deadline', 'Stopped before the end.', { help: 'Run it again.', cause: error })
    throw error
  } finally {
    screen.bar('')
  }
}

/** Runs `work` with the node or archive of the settings. Throws 'usage' when none is set. */
export async function withNode<T>(
  { values, log }: Pick<CommandCall, 'values' | 'log'>,
  work: (node: Node) => Promise<T>,
): Promise<T> {
  const node = connectNode(values, log)
  if (node === undefined)
    throw new Failure('usage', 'A copy is compared with the chain of a node or archive, but none is set.', {
      help: 'Set --node.',
    })
  try {
    return await work(node)
  } finally {
    node.close()
  }
}

/** The snapshot repository of the settings. Throws 'usage' when none is set. */
export function requireRepository({ repository }: Pick<CommandCall['values'], 'repository'>): string {
  if (repository !== undefined) return repository
  throw new Failure('usage', 'Elasticsearch keeps snapshots in repositories, but none is set.', {
    help: 'Register one (PUT /_snapshot/NAME), and set --repository.',
  })
}
