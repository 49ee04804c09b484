import { LINKED, type LoadedBlock, type Proof } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { createNode, type NodeOptions } from '#node/archive-node.ts'
import { idleClock } from '../clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from './faulty-node.ts'
import { recordedBlocks } from './recording.ts'

export const json = (text: string): Response => new Response(text, { headers: { 'content-type': 'application/json' } })

export type Range = {
  readonly from: number
  readonly to: number
  readonly parent?: string
  readonly following?: boolean
}

/** Reads a range of the recorded chain with a fault. Returns blocks, requests and failure (with NODE for the URL). */
export async function read(fault: Fault, range: Range, options: Partial<NodeOptions> = {}) {
  await using faulty = await startFaultyNode(fault)
  const node = createNode({ urls: [faulty.url], clock: idleClock(), ...options })
  const blocks: LoadedBlock[] = []
  const proofs: Proof[] = []
  let failure: Failure | undefined
  try {
    for await (const loaded of node.blocks(range)) {
      blocks.push({ ...loaded, proof: LINKED })
      proofs.push(loaded.proof)
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    failure = error
  }
  node.close()
  return {
    /** The blocks must equal the recorded ones at any level of proof. */
    blocks,
    proofs,
    asked: faulty.asked.map(({ path }) => path),
    failure: failure && {
      kind: failure.kind,
      message: failure.message.replaceAll(faulty.url, 'NODE'),
      ...(failure.help === undefined ? {} : { help: failure.help }),
    },
  }
}

export const isBulk = (path: string): boolean => path === '/getBlockTxsByContract' || path === '/getBlockHeaderByRange'

/** A fault for the first `times` requests of a path. */
export function at(match: (path: string) => boolean, fault: Fault, times = Number.POSITIVE_INFINITY): Fault {
  let left = times
  return (asked, truth) => {
    if (!match(asked.path) || left <= 0) return undefined
    left -= 1
    return fault(asked, truth)
  }
}

export const changed =
  (change: (text: string) => string): Fault =>
  async (_, truth) =>
    json(change(await truth()))

export const slice = async ({ from, to }: Range) => (await recordedBlocks()).slice(from, to + 1)

export const single = (path: string): boolean => path === '/getBlockByNumber/1201/true'
