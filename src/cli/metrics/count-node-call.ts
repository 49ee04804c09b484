import type { NodeCall } from '#node/http.ts'
import type { Counts } from './catalogue.ts'

/** Counts a request to a node that is over. */
export const countNodeCall = (
  { nodeCalls, nodeSeconds, nodeRetries, nodeBytes }: Counts,
  { name, outcome, ms, bytes, isRetry }: NodeCall,
): void => {
  nodeCalls.add(1, name, outcome)
  nodeSeconds.observe(ms / 1_000, name)
  nodeBytes.add(bytes, name)
  if (isRetry) nodeRetries.add(1, name)
}
