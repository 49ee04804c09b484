import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { json } from '../support/nodes/read-blocks.ts'
import { cliFolder } from '../support/processes/cli-process.ts'

const HEIGHT = 120
/** The last height loaded at level `linked`. */
const LINKED = 60

/** A node that returns no signatures of blocks below `signed`, and no raw blocks. */
const unsignedBelow =
  (signed: () => number): Fault =>
  async ({ path, body }, truth) => {
    if (path.startsWith('/getRawBlockByNumber/'))
      return new Response('{"code":12,"message":"Not Implemented"}', { status: 400 })
    if (path !== '/getBlockHeaderByRange') return undefined
    const { start } = JSON.parse(body) as { readonly start: number }
    let height = start - 1
    return json(
      (await truth()).replace(/"sign":\{[^}]*\}/g, sign => {
        height += 1
        return height < signed() ? '"sign":{"algorithm":0, "sig":"", "pubKey":""}' : sign
      }),
    )
  }

test('verify, repair: without --prove, each block is checked against the node at the level at which it was loaded', async () => {
  let signed = HEIGHT + 1
  await using node = await startFaultyNode(
    unsignedBelow(() => signed),
    LINKED,
  )
  await using folder = await cliFolder()
  const load = (...args: readonly string[]) => folder.run(['load', '--once', '--node', node.url, ...args])
  const verify = (...args: readonly string[]) => folder.run(['verify', '--node', node.url, '--sample', '1000', ...args])

  expect((await load('--prove', 'linked')).code).toBe(0)
  const linked = await verify()
  expect([linked.code, linked.err]).toEqual([0, ''])
  expect(linked.out).toEndWith(': whole\n')

  // The next blocks are loaded with signatures, and must be verified with them.
  signed = LINKED + 1
  node.setHeight(HEIGHT)
  expect((await load()).code).toBe(0)
  const both = await verify()
  expect([both.code, both.out]).toEqual([
    0,
    expect.stringContaining(`blocks 0 to ${LINKED}: linked\nproved when loaded: blocks 61 to 120: signed\n`),
  ])

  const database = new Database(join(folder.path, 'data/iostlens.sqlite'))
  database.run('DELETE FROM blocks WHERE height IN (30, 90)')
  database.close()
  const repaired = await folder.run(['repair', '--node', node.url])
  expect([repaired.code, repaired.out]).toEqual([0, expect.stringContaining('0 are left')])
  expect((await verify()).code).toBe(0)

  // A missing proof is reported as a fault of the node. No stored block is reported as damaged.
  signed = HEIGHT + 1
  for (const failed of [await verify(), await verify('--prove', 'signed')]) {
    expect([failed.code, failed.out]).toEqual([3, ''])
    expect(failed.err).toContain('no signature')
    expect(failed.err).toContain('Use a node that returns signatures.')
  }
  expect((await verify('--prove', 'linked')).code).toBe(0)
})
