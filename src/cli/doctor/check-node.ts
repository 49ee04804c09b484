import { Failure } from '#failure/failure.ts'
import { judgeNode, lacksText, type StoredChain, unfitHelp, unfitText, type Verdict } from '#node/pool.ts'
import type { ChainInfo, Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { askQuestion, type DoctorFinding, findingsAbout, type Tell } from './finding.ts'

const { ok, warning, wrong, failed } = findingsAbout('node')

/**
 * Maximum age of a head: a node makes a block every half second, so an older head belongs to a node that has stopped.
 */
const HEAD_MS = 30_000
/** Calls that loading or the gateway needs, each by a path that every chain answers. */
const CALLS = [
  ['getNodeInfo', '/getNodeInfo', 'the gateway'],
  ['getBlockByNumber', '/getBlockByNumber/0/true', 'loading'],
  ['getRawBlockByNumber', '/getRawBlockByNumber/0/true', 'the proof of texts (--prove whole)'],
] as const

const NODE_HELP =
  'Check that the node runs and that its HTTP RPC port is reachable from here: curl URL/getChainInfo. Or set another one with --node.'

export type StoredEnd = { readonly published: Published; readonly identity: StoredChain['identity'] }

type NodeFrom = {
  readonly node: Pick<Node, 'name' | 'chainInfo' | 'blockHash' | 'get'>
  /** The end of the stored chain; undefined: there is none, or the store cannot be read. */
  readonly stored: Promise<StoredEnd | undefined>
  readonly hashAt: StoredChain['hashAt']
  readonly clock: Pick<Clock, 'now'>
  readonly signal: AbortSignal
}

/** Checks the chain, height, clock and calls of one node; the calls side by side. */
export async function checkNode(from: NodeFrom, tell: Tell): Promise<void> {
  const { node, signal } = from
  const asked = { about: 'node', of: node.name, help: NODE_HELP, tell } as const
  let heard: ChainInfo | undefined
  await askQuestion(asked, async () => {
    const info = await node.chainInfo(signal)
    heard = info
    return [
      ok(
        `${node.name} serves chain ${info.chainId}${info.netName && ` (${info.netName})`}; head ${info.headBlock}, last irreversible block ${info.libBlock}`,
      ),
      headFinding(info, from),
    ]
  })
  if (heard === undefined) return
  const info = heard
  await Promise.all([
    // The node is not to blame for a store that does not answer.
    from.stored.then(() => askQuestion(asked, () => chainFindings(info, from))),
    ...CALLS.map(call => askQuestion(asked, async () => [await callFinding(call, from)])),
  ])
}

function headFinding({ headTime }: ChainInfo, { node, clock }: NodeFrom): DoctorFinding {
  const ms = clock.now() - Number(headTime / 1_000_000n)
  const seconds = Math.abs(Math.round(ms / 1_000))
  if (ms > HEAD_MS)
    return warning(
      `The head block of ${node.name} is ${seconds} seconds old by this machine's clock`,
      "The node is stuck or syncing, or this machine's clock is wrong: compare with 'date -u' and another node.",
    )
  if (ms < -HEAD_MS)
    return wrong(
      `The head block of ${node.name} was made ${seconds} seconds after this machine's time`,
      "Set this machine's clock: 'timedatectl set-ntp true'.",
    )
  return ok(`The clocks of ${node.name} and of this machine agree`)
}

async function chainFindings(
  { chainId, libBlock }: ChainInfo,
  { node, stored, hashAt, signal }: NodeFrom,
): Promise<readonly DoctorFinding[]> {
  const end = await stored
  if (end === undefined) return []
  const { published, identity } = end
  const verdict = await judgeNode(
    { chainId, libBlock, blockHash: height => node.blockHash(height, signal) },
    { identity, last: published, hashAt },
  )
  return [found(verdict, node.name, published.height)]
}

function found(verdict: Verdict, name: string, height: number): DoctorFinding {
  switch (verdict.is) {
    case 'fit':
      return ok(`${name} has the last stored block, ${height}`)
    case 'behind':
      return warning(
        `${name} is behind the store, which has block ${height}`,
        'Wait until it has caught up, or set another node with --node.',
      )
    case 'lacks':
      return wrong(lacksText(verdict, name), NODE_HELP)
    default:
      return wrong(unfitText(verdict, name), unfitHelp(verdict, name))
  }
}

async function callFinding(
  [name, path, use]: (typeof CALLS)[number],
  { node, signal }: NodeFrom,
): Promise<DoctorFinding> {
  const help = `Without ${name}, ${use} does not work; enable it at the node, or set another one with --node.`
  try {
    const { status, release } = await node.get(path, { signal })
    release()
    return status === 200
      ? ok(`${node.name} answers ${name}`)
      : warning(`${node.name} answers ${name} with status ${status}`, help)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { ...failed(error, help), is: 'warning' }
  }
}
