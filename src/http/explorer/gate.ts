import { Failure } from '#failure/failure.ts'
import { type CallerPermits, createPermits, MAX_ROWS_WITHOUT_KEY, pause, toRetrySeconds } from '#gate/gate.ts'
import { type AddressLimits, listNetworks } from '#gate/networks.ts'
import type { Queues } from '#gate/queues.ts'
import type { Clock } from '#time/clock.ts'
import type { Exchange } from '../exchange.ts'

/** The limits of visits. */
export type ExplorerGate = {
  readonly queues: Queues
  readonly addresses: Pick<AddressLimits, 'visit' | 'refresh'>
}

/**
 * Counts a visit of a page, or a refresh of an open one. Refreshes have a limit of their own, so that open
 * pages leave their readers all visits. Visitors of unknown networks are not limited, but share one key for
 * permits. Returns the key of the visitor's permits: the widest of its networks, so that the holder of many networks has
 * the permits of one. Throws 'rate_limited'.
 */
export function counted(
  { addresses }: Pick<ExplorerGate, 'addresses'>,
  { client }: Pick<Exchange, 'client'>,
  as: 'visit' | 'refresh',
): string {
  const network = client?.network
  if (network === undefined) return 'visitor'
  const wait = addresses[as](network)
  if (wait > 0)
    throw new Failure('rate_limited', 'Too many pages were opened from this network address within a minute.', {
      zh: '此网络地址在一分钟内打开的页面过多。',
      details: toRetrySeconds(wait),
    })
  return listNetworks(network).at(-1) ?? network
}

/**
 * Admits a visitor of a page or a file: counts the visit, and gives the permits of the visitor's network. Each thousand
 * rows of a file count as one more visit, and wait until one is allowed. Throws 'rate_limited' and 'unavailable'.
 */
export function admitVisitor(
  gate: ExplorerGate,
  exchange: Pick<Exchange, 'client'>,
  { as, clock }: { readonly as: 'visit' | 'refresh'; readonly clock: Pick<Clock, 'sleep'> },
): CallerPermits {
  const key = counted(gate, exchange, as)
  gate.queues.visitors.check(key)
  const network = exchange.client?.network
  const more = async (signal: AbortSignal): Promise<void> => {
    if (network === undefined) return
    for (let ms = gate.addresses.visit(network); ms > 0; ms = gate.addresses.visit(network))
      await pause(ms, clock, signal)
  }
  const plan = { require: () => undefined, mostRows: MAX_ROWS_WITHOUT_KEY, more }
  return createPermits(gate.queues, { key, plan, isVisitor: true })
}
