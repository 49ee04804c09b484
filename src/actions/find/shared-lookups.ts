import type { Node } from '#node/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import type { FoundTransaction } from './found-transaction.ts'

/** How long a result is shared, milliseconds, as an answer of `/rpc/` is: the chain makes a block every 500. */
const KEPT_MS = 500

type Lookup = { readonly since: number; readonly found: Promise<FoundTransaction | undefined> }
const ofNodes = new WeakMap<Node, Map<string, Lookup>>()

type Asked = { readonly node: Node; readonly clock: Pick<Clock, 'elapsed'>; readonly signal: AbortSignal }

/**
 * Looks a transaction up at a node; equal look-ups (`name`: hash and published height) share what is under way, or was found
 * just now. That a transaction is unknown is kept for nobody, and a failure is nobody else's: who shared it asks itself.
 */
export const sharedLookup = async (
  name: string,
  { node, clock, signal }: Asked,
  lookUp: () => Promise<FoundTransaction | undefined>,
): Promise<FoundTransaction | undefined> => {
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

/** The oldest come first. */
const forgetOld = (lookups: Map<string, Lookup>, before: number): void => {
  for (const [name, { since }] of lookups) {
    if (since > before) break
    lookups.delete(name)
  }
}
