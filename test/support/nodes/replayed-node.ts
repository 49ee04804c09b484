import { afterAll, beforeAll } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import type { Replay } from '#test/replay/serve.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { replayed } from '../stores/loading.ts'

/** A node that replays the recorded chain while the tests of a file run; to be called at its top level. */
export function replayedNode(to?: number) {
  let replay: Replay
  let node: Node
  beforeAll(async () => {
    replay = await replayed(to)
    node = createNode({ urls: [replay.url], clock: patientClock })
  })
  afterAll(async () => {
    node.close()
    await replay.stop()
  })
  return {
    get url() {
      return replay.url
    },
    get node() {
      return node
    },
  }
}
