import { type Shares, sharesOf } from '../measure.ts'
import type { GrowingNode, Reach } from './growing-node.ts'

/** The polled path, and the header of the answer with its height. */
const ASKED: Readonly<Record<Reach, readonly [path: string, header: string]>> = {
  irreversible: ['/api/block/get-latest-block', 'x-block-height'],
  head: ['/api/base/get-block-list?size=1&head=1', 'x-head-height'],
}
/** Milliseconds between two polls: a figure is too long by at most this and the time of an answer. */
const EVERY_MS = 5

/**
 * Times from a block's arrival at the node until an answer has it, for blocks that arrive after the service
 * has caught up.
 */
export const freshness = async (
  node: GrowingNode,
  { url, key }: { readonly url: string; readonly key: string },
  { reach, blocks }: { readonly reach: Reach; readonly blocks: number },
): Promise<Shares> => {
  const [path, header] = ASKED[reach]
  const seen = async (): Promise<number> => {
    const answer = await fetch(url + path, { headers: { 'x-api-key': key } })
    await answer.arrayBuffer()
    return Number(answer.headers.get(header) ?? -1)
  }
  const times: number[] = []
  const caughtUp = (height: number): boolean => height + 1 >= Math.max(...node.since[reach].keys())
  while (!caughtUp(await seen())) await Bun.sleep(EVERY_MS)
  for (let last = await seen(); times.length < blocks; ) {
    await Bun.sleep(EVERY_MS)
    const height = await seen()
    const now = performance.now()
    for (last += 1; last <= height; last += 1) {
      const since = node.since[reach].get(last)
      if (since !== undefined) times.push(now - since)
    }
    last -= 1
  }
  return sharesOf(times)
}
