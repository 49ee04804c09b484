import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { ArchivedBlock } from '#archive/format.ts'
import { retriedBlocks } from '#cli/archive/write.ts'
import { toExitCode } from '#cli/command.ts'
import { Failure } from '#failure/failure.ts'
import { expectEnd } from '../cli/folder.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { replayed } from '../support/stores/loading.ts'
import { testFolder } from '../support/test-folder.ts'
import { archiveOfNode, check, EACH, filesIn } from './archives.ts'

const HEIGHT = 2 * EACH - 1

const folder = testFolder()
let whole: string

beforeAll(async () => {
  whole = join(folder, 'whole')
  await using node = await replayed(HEIGHT)
  await archiveOfNode(node.url, whole, { to: HEIGHT })
})

/** Refuses the signatures of the second file, which are requested after the first file is written. */
const away: Fault = ({ path, body }) =>
  path === '/getBlockHeaderByRange' && body === JSON.stringify({ start: EACH, end: EACH + 100 })
    ? new Response('away', { status: 502 })
    : undefined

test('archive write: a node that keeps failing ends it with a clear message, and the next run continues after the last file', async () => {
  await using cli = await cliFolder()
  const each = ['--blocks-per-file', String(EACH), '--to', String(HEIGHT), '--wait', '1s']
  {
    await using node = await startFaultyNode(away, HEIGHT)
    const says = /No block could be written within the time.*status 502/s
    await expectEnd(cli, ['archive', 'write', 'a', '--node', node.url, ...each], 75, says)
  }
  await check(join(cli.path, 'a'))
  await using node = await startFaultyNode(undefined, HEIGHT)
  expect((await cli.run(['archive', 'write', 'a', '--node', node.url, ...each])).code).toBe(0)
  // Blocks of the first file are not requested again.
  const starts = node.asked.flatMap(({ path, body }) =>
    path === '/getBlockHeaderByRange' ? [Number(JSON.parse(body).start)] : [],
  )
  expect(Math.min(...starts)).toBe(EACH)
  expect(await filesIn(join(cli.path, 'a'))).toEqual(await filesIn(whole))
})

/** A block with only the fields that are read, and a hash made of its height. */
const block = (height: number) => ({ block: { height, hash: `hash ${height}` } }) as unknown as ArchivedBlock

async function read(fails: (asked: number) => unknown, waitMs = 60_000) {
  const clock = idleClock()
  const asked: (readonly [number, string | undefined])[] = []
  const blocks = retriedBlocks(
    async function* (from, parent) {
      asked.push([from, parent])
      for (let height = from; height < 6; height++) {
        if (height > 2) {
          const failed = fails(asked.length)
          if (failed !== undefined) throw failed
        }
        yield block(height)
      }
    },
    { waitMs, clock, log: () => undefined, signal: new AbortController().signal },
  )
  const heights: number[] = []
  let failure: unknown
  try {
    for await (const { block } of blocks(0, undefined)) heights.push(block.height)
  } catch (error) {
    failure = error
  }
  return { heights, asked, failure, slept: clock.slept }
}

test('archive write: after a failure, continues after the last block, requires its child next, and pauses like a load', async () => {
  const away = new Failure('unavailable', 'away')
  expect(await read(asked => (asked <= 3 ? away : undefined))).toEqual({
    ...{ heights: [0, 1, 2, 3, 4, 5], failure: undefined, slept: [250, 500, 1_000] },
    asked: [[0, undefined], ...Array(3).fill([3, 'hash 2'])],
  })
})

test('archive write: ends after a lasting failure, and at once if a retry cannot help', async () => {
  const away = await read(() => new Failure('unavailable', 'away'), 2_000)
  expect([away.heights, toExitCode(away.failure), String(away.failure)]).toEqual([
    [0, 1, 2],
    75,
    'Failure: No block could be written within the time of --wait: away',
  ])
  for (const lasting of [
    new Failure('bad_block', 'wrong'),
    new Failure('unavailable', 'never', { retryable: false }),
    new Error('a bug'),
  ]) {
    const { asked, failure } = await read(() => lasting)
    expect([asked.length, failure]).toEqual([1, lasting])
  }
})
