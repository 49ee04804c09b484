import { highestPossible } from '#chain/time.ts'
import { getErrorMessage } from '#failure/failure.ts'
import { within } from '#time/deadline.ts'
import type { CallContext } from './call.ts'
import type { ChainIdentity } from './chain-info.ts'
import { type StoredChain, unfitText } from './judge.ts'
import type { Member, NodePool } from './pool.ts'
import type { NodeEvent, StoredBlocks } from './port.ts'
import { PROBE_TIMEOUT_MS, type ProbeResult, probeNode } from './probe-node.ts'

/** Interval between probes in milliseconds, the time of two blocks: a report is hardly older than a block. */
const EVERY_MS = 1_000

export type Watching = {
  /** The stored chain; undefined: nothing is stored yet. */
  readonly expected: () => Promise<ChainIdentity | undefined>
  readonly stored: StoredBlocks
  readonly onEvent: (event: NodeEvent) => void
}

/**
 * Probes every node regularly and separately, with one request in flight, so that a node that hangs delays no
 * other. Resolves after the first probe of all nodes; probing continues until the signal of `context` aborts.
 */
export async function watchNodes(context: CallContext, watching: Watching): Promise<void> {
  const { pool, clock, signal } = context
  const { expected, stored } = watching
  pool.watched = true
  let identity: ChainIdentity | undefined
  const learn = async (): Promise<void> => {
    if (identity !== undefined) return
    // A store that is out of reach now is read again at the next probe.
    const chain = await expected().catch(() => undefined)
    if (chain === undefined) return
    pool.expect(chain)
    identity = chain
  }
  let last: Awaited<ReturnType<StoredBlocks['last']>>
  let pending: Promise<void> | undefined
  /** An older block serves as well, so a slow store delays no probe. */
  const learnLast = (): Promise<void> => {
    pending ??= stored
      .last()
      .then(
        block => {
          last = block ?? last
          if (last !== undefined) pool.storedHeight = last.height
        },
        () => undefined,
      )
      .finally(() => {
        pending = undefined
      })
    return pending
  }
  /** A store that is slow or out of reach proves nothing about a block. */
  const hashAt = (height: number): Promise<string | undefined> =>
    within(stored.hashAt(height), { ms: PROBE_TIMEOUT_MS, clock }).catch(() => undefined)
  const chainNow = (): StoredChain | undefined =>
    identity === undefined || last === undefined ? undefined : { identity, last, hashAt }
  const probe = (member: Member): Promise<TimedProbe> => {
    const most = last === undefined ? Number.POSITIVE_INFINITY : highestPossible(last, clock.now())
    return timedProbe(context, member, { most, chain: chainNow() })
  }
  const noteProbe = (member: Member, probe: TimedProbe): void => {
    if (!signal.aborted) note(pool, { member, probe }, watching.onEvent)
  }
  const goOn = async (member: Member): Promise<void> => {
    for (;;) {
      await clock.sleep(EVERY_MS, signal)
      if (signal.aborted) return
      void learnLast()
      await learn()
      noteProbe(member, await probe(member))
    }
  }
  await Promise.all([learn(), learnLast()])
  const probes = await Promise.all(pool.members.map(async member => ({ member, probe: await probe(member) })))
  // In the given order of nodes: the first one that answers determines the chain.
  for (const { member, probe } of probes) noteProbe(member, probe)
  for (const member of pool.members) void goOn(member)
}

type TimedProbe = ProbeResult & { readonly ms: number }

/** A probe that fails does not end the probing. */
async function timedProbe(
  context: CallContext,
  member: Member,
  known: Parameters<typeof probeNode>[2],
): Promise<TimedProbe> {
  const started = context.clock.elapsed()
  const found = await probeNode(context, member, known).catch((error: unknown) => ({ silent: getErrorMessage(error) }))
  return { ...found, ms: context.clock.elapsed() - started }
}

/** Records the result of a probe and reports the changes of the node's state. */
function note(
  pool: NodePool,
  { member, probe }: { readonly member: Member; readonly probe: TimedProbe },
  onEvent: Watching['onEvent'],
): void {
  const { silent, foreign, apart, report } = member
  const tell = (type: NodeEvent['type'], detail: string): void => onEvent({ type, node: member.endpoint.name, detail })
  if ('silent' in probe) {
    // The last accepted report counts until it is too old; then the node's height is unknown.
    if (probe.doubted === true && report !== undefined) return
    // A different node may appear at this address.
    Object.assign(member, { silent: probe.silent, report: undefined, genesis: undefined, apart: undefined })
    if (silent === undefined) tell('silent', probe.silent)
    return
  }
  member.silent = undefined
  member.genesis = probe.genesis
  member.probeMs = probe.ms
  if (isOnOtherBranch(member, probe)) {
    if (apart === undefined) tell('apart', unfitText(member.apart, 'it'))
    return
  }
  if (!pool.noteInfo(member, probe.info)) {
    if (foreign !== member.foreign) tell('foreign', member.foreign ?? '')
    return
  }
  if (report === undefined) tell('heard', `block ${probe.info.libBlock}`)
}

/** Records whether a node is on another branch than ours; its reported heights then do not apply to it. */
function isOnOtherBranch(
  member: Member,
  { verdict }: Exclude<TimedProbe, { readonly silent: string }>,
): member is Member & { apart: NonNullable<Member['apart']> } {
  // A node that does not return the block is judged once it does.
  if (verdict?.is !== 'lacks') member.apart = verdict?.is === 'apart' ? verdict : undefined
  if (member.apart === undefined) return false
  member.report = undefined
  member.foreign = undefined
  return true
}
