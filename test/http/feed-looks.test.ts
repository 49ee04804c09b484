import { expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

/** Feeds with a clock moved by the test: the times of looks at the store, and the comments sent when nothing is new. */

const READERS = 30
const FROM = 20
const TO = 24
const LIST = '/api/base/get-block-list?format=sse'

/** The text of a body so far. */
function collected(response: Response): () => string {
  const decoder = new TextDecoder()
  let text = ''
  void (async () => {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true })
  })()
  return () => text
}

test('feeds: the store is read once per height for all readers, and every 15 seconds a comment names the height', async () => {
  const { store, destroy } = await temporarySqlite()
  const clock = handClock()
  let reads = 0
  const counted: Store = {
    ...store,
    read: (...asked) => {
      reads += 1
      return store.read(...asked)
    },
  }
  const service = serviceOn(counted, { clock })
  const texts: (() => string)[] = []
  const open = async (): Promise<void> => {
    for (let at = 0; at < READERS; at += 1) {
      // Two forms of the same list. Each is serialized once.
      const query = at % 2 === 0 ? '' : '&numbers=string'
      texts.push(collected(await service.ask(`${LIST}${query}&apikey=${service.key}`)))
    }
    // After each reader has read its list, all of them wait for new rows.
    while (texts.some(text => !text().includes('id: '))) await clock.settle()
    for (let last = 0; last !== reads || reads < 2 * READERS; await Bun.sleep(1)) {
      last = reads
      await clock.pass(100)
    }
  }
  const until = async (mark: RegExp): Promise<void> => {
    while (texts.some(text => !mark.test(text()))) {
      await clock.pass(10)
      await Bun.sleep(1)
    }
  }
  const blocks = await recordedBlocks()
  const runs = [blocks.slice(0, FROM + 1), ...blocks.slice(FROM + 1, TO + 1).map(block => [block])]
  await commitRuns(store, runs, {
    lib: TO,
    onCommitted: async height => {
      if (height === FROM) return open()
      const before = reads
      // The id of the last row that is sent at once has a mark of the chain behind its number.
      await until(new RegExp(`^id: ${height + 1}@`, 'm'))
      expect([height, reads - before]).toEqual([height, 1])
    },
  })
  const before = reads
  await clock.pass(14_000)
  expect(texts.filter(text => text().includes(`: block ${TO}\n`))).toEqual([])
  await until(new RegExp(`^: block ${TO}\n`, 'm'))
  expect(reads).toBe(before)
  await destroy()
})
