import { Failure } from '#failure/failure.ts'
import { createNode, type NodeOptions } from '#node/archive-node.ts'
import type { ChainIdentity, NodeEvent } from '#node/port.ts'
import { handClock } from '../clocks/hand-clock.ts'
import { type Fault, startFaultyNode } from './faulty-node.ts'

export const GENESIS = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'
export const OURS: ChainIdentity = { chainId: 1020, genesis: GENESIS }
/** Hash of its last block, 4851. */
export const LAST_HASH = '8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg'
/** A call that is passed on to a node and that no probe makes. */
export const PATH = '/getRAMInfo'

export const hangs: Fault = () => new Promise<never>(() => undefined)
export const refuses: Fault = () => new Response('busy', { status: 503 })

/** Two watched nodes, the sick one listed first. */
export async function pair({
  sickTo,
  wellTo,
  start,
  ...more
}: Partial<NodeOptions> & { sickTo?: number; wellTo?: number; start?: number } = {}) {
  let fault: Fault = () => undefined
  const sick = await startFaultyNode((asked, truth) => fault(asked, truth), sickTo)
  const well = await startFaultyNode(undefined, wellTo)
  const clock = handClock(start)
  const events: NodeEvent[] = []
  const onEvent = (event: NodeEvent) => events.push(event)
  const node = createNode({ urls: [sick.url, well.url], clock, onEvent, ...more })
  const passed = (faulty: typeof sick) => faulty.asked.filter(({ path }) => path === PATH).length
  return {
    node,
    clock,
    events,
    sick,
    well,
    /** Number of passed-on calls of each node. */
    passed: () => [passed(sick), passed(well)],
    become: (next: Fault) => {
      fault = next
    },
    /** Waits for one probe of both nodes. */
    look: async () => {
      await clock.awaited(1_000, 2)
      await clock.pass(1_000)
      await clock.awaited(1_000, 2)
    },
    [Symbol.asyncDispose]: async () => {
      node.close()
      await sick[Symbol.asyncDispose]()
      await well[Symbol.asyncDispose]()
    },
  }
}

/** The status of an answer, or the kind of the failure. */
export async function statusOf(asked: Promise<{ readonly status: number }>): Promise<number | string> {
  try {
    return (await asked).status
  } catch (error) {
    if (error instanceof Failure) return error.kind
    throw error
  }
}
