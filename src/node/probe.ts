import { highestPossible } from '#chain/time.ts'
import { within } from '#time/deadline.ts'
import type { Asking } from './call.ts'
import type { ChainIdentity } from './chain-info.ts'
import { type StoredChain, unfitText } from './judge.ts'
import type { Member, Pool } from './pool.ts'
import type { NodeEvent, StoredBlocks } from './port.ts'
import { LOOK_MS, lookAt, type Said } from './probe-node.ts'

/** Interval between probes in milliseconds, the time of two blocks: a report is hardly older than a block. */
const EVERY_MS = 1_000

export type Watching = {
  /** The stored chain; undefined: nothing is stored yet. */
  readonly expected: () => Promise<ChainIdentity | undefined>
  readonly stored: StoredBlocks
  readonly onEvent: (event: NodeEvent) => void
  /** Called after each probe whose result was recorded. */
  readonly onProbe: () => void
}

/**
 * Probes every node regularly and separately, with one request in flight, so that a node that hangs delays no
 * other. Resolves after the first probe of all nodes; probing continues until the signal of `asking` aborts.
 */
export const watchNodes = async (asking: Asking, watching: Watching): Promise<void> => {
  const { pool, clock, signal } = asking
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
  let asked: Promise<void> | undefined
  /** An older block serves as well, so a slow store delays no probe. */
  const learnLast = (): Promise<void> => {
    asked ??= stored
      .last()
      .then(
        block => {
          last = block ?? last
          if (last !== undefined) pool.storedHeight = last.height
        },
        () => undefined,
      )
      .finally(() => {
        asked = undefined
      })
    return asked
  }
  /** A store that is slow or out of reach proves nothing about a block. */
  const hashAt = (height: number): Promise<string | undefined> =>
    within(stored.hashAt(height), { ms: LOOK_MS, clock }).catch(() => undefined)
  const chainNow = (): StoredChain | undefined =>
    identity === undefined || last === undefined ? undefined : { identity, last, hashAt }
  const look = (member: Member): Promise<Look> => {
    const most = last === undefined ? Number.POSITIVE_INFINITY : highestPossible(last, clock.now())
    return timedLook(asking, member, { most, chain: chainNow() })
  }
  const noteLook = (member: Member, look: Look): void => {
    if (signal.aborted) return
    note(pool, { member, look }, watching.onEvent)
    watching.onProbe()
  }
  const goOn = async (member: Member): Promise<void> => {
    for (;;) {
      await clock.sleep(EVERY_MS, signal)
      if (signal.aborted) return
      void learnLast()
      await learn()
      noteLook(member, await look(member))
    }
  }
  await Promise.all([learn(), learnLast()])
  const looks = await Promise.all(pool.members.map(async member => ({ member, look: await look(member) })))
  // In the given order of nodes: the first one that answers determines the chain.
  for (const { member, look } of looks) noteLook(member, look)
  for (const member of pool.members) void goOn(member)
}

type Look = Said & { readonly ms: number }

/** A probe that fails does not end the probing. */
const timedLook = async (
  asking: Asking,
  member: Member,
  known: Parameters<typeof lookAt>[2],
): Promise<Look> => {
  const started = asking.clock.elapsed()
  const found = await lookAt(asking, member, known).catch((error: unknown) => ({ silent: String(error) }))
  return { ...found, ms: asking.clock.elapsed() - started }
}

/** Records the result of a probe and reports the changes of the node's state. */
const note = (
  pool: Pool,
  { member, look }: { readonly member: Member; readonly look: Look },
  onEvent: Watching['onEvent'],
): void => {
  const { silent, foreign, apart, heard } = member
  const tell = (type: NodeEvent['type'], detail: string): void =>
    onEvent({ type, node: member.endpoint.name, detail })
  if ('silent' in look) {
    // The last accepted report counts until it is too old; then the node's height is unknown.
    if (look.doubted === true && heard !== undefined) return
    // A different node may appear at this address.
    Object.assign(member, { silent: look.silent, heard: undefined, genesis: undefined, apart: undefined })
    if (silent === undefined) tell('silent', look.silent)
    return
  }
  member.silent = undefined
  member.genesis = look.genesis
  member.probeMs = look.ms
  if (isApart(member, look)) {
    if (apart === undefined) tell('apart', unfitText(member.apart, 'it'))
    return
  }
  if (!pool.noteInfo(member, look.info)) {
    if (foreign !== member.foreign) tell('foreign', member.foreign ?? '')
    return
  }
  if (heard === undefined) tell('heard', `block ${look.info.libBlock}`)
}

/** Records whether a node is on another branch than ours; its reported heights then do not apply to it. */
const isApart = (
  member: Member,
  { verdict }: Exclude<Look, { readonly silent: string }>,
): member is Member & { apart: NonNullable<Member['apart']> } => {
  // A node that does not return the block is judged once it does.
  if (verdict?.is !== 'lacks') member.apart = verdict?.is === 'apart' ? verdict : undefined
  if (member.apart === undefined) return false
  member.heard = undefined
  member.foreign = undefined
  return true
}
