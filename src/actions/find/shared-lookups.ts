import type { Node } from '#node/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import type { FoundTransaction } from './found-transaction.ts'

/** Milliseconds for which a result is shared, as for answers of `/rpc/`: the chain makes a block every 500. */
const KEPT_MS = 500

type Lookup = { readonly since: number; readonly found: Promise<FoundTransaction | undefined> }
const ofNodes = new WeakMap<Node, Map<string, Lookup>>()

type LookupDeps = {
  readonly node: Node
  readonly clock: Pick<Clock, 'elapsed'>
  readonly signal: AbortSignal
}

/**
 * Looks up a transaction at a node. Equal look-ups (`name`: hash and published height) share one that is
 * pending or has just found its transaction. A result without a transaction is not kept. After a failure of a
 * shared look-up, each caller makes its own.
 */
export async function sharedLookup(
  name: string,
  { node, clock, signal }: LookupDeps,
  lookUp: () => Promise<FoundTransaction | undefined>,
): Promise<FoundTransaction | undefined> {
  const lookups = ofNodes.get(node) ?? new Map<string, Lookup>()
  ofNodes.set(node, lookups)
  forgetOld(lookups, clock.elapsed() - KEPT_MS)
  const known = lookups.get(name)
  if (known !== undefined) {
    const shared = await within(known.found, { signal }).then(
      found => ({ found }),
      () => undefined,
    )
    if (shared !== undefined) return shared.found
    signal.throwIfAborted()
  }
  const lookup: Lookup = { since: clock.elapsed(), found: lookUp() }
  const forget = (): void => {
    if (lookups.get(name) === lookup) lookups.delete(name)
  }
  lookups.set(name, lookup)
  lookup.found.then(found => {
    if (found === undefined) forget()
  }, forget)
  return lookup.found
}

/** Look-ups are in order of age, oldest first. */
function forgetOld(lookups: Map<string, Lookup>, before: number): void {
  for (const [name, { since }] of lookups) {
    if (since > before) break
    lookups.delete(name)
  }
}
