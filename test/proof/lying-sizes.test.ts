import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { isBulk } from '../support/nodes/read-blocks.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { PROGRAM } from '../support/processes/program.ts'

// The program's own memory while a node lies in the size of its answers.

const MIB = 1024 * 1024
/** What a lie may cost beyond the memory of an honest load. */
const MOST_MORE = 300 * MIB
const HEIGHT = 30

let folder: CliFolder
beforeAll(async () => {
  folder = await cliFolder()
})
afterAll(() => folder[Symbol.asyncDispose]())

/** Loads from the node until the command ends; the highest memory of its process, in bytes. */
async function peakOf(name: string, fault?: Fault): Promise<number> {
  await using node = await startFaultyNode(fault, HEIGHT)
  const args = ['load', '--once', '--store', `sqlite:${name}.sqlite`, '--node', node.url, '--prove', 'linked']
  const child = Bun.spawn([...PROGRAM, ...args, '--wait', '1s'], {
    cwd: folder.path,
    stderr: 'ignore',
    stdout: 'ignore',
  })
  let peak = 0
  const isOver = child.exited.then(() => true)
  // The kernel keeps the highest value, so that only the last moments of the process may be missed.
  do {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024)
  } while (!(await Promise.race([isOver, Bun.sleep(20).then(() => false)])))
  return peak
}

/** An answer that unpacks to eight times as much. */
const packed = (coding: string, part: Buffer): Response =>
  new Response(new Uint8Array(Buffer.concat(Array(8).fill(part))), { headers: { 'content-encoding': coding } })

const LIES: readonly (readonly [what: string, fault: Fault])[] = [
  [
    'an encoding that was not asked for',
    ({ path }) =>
      path === '/getChainInfo' ? packed('zstd', zstdCompressSync(Buffer.alloc(128 * MIB, ' '))) : undefined,
  ],
  [
    'a gzip bomb in a range',
    ({ path }) => (isBulk(path) ? packed('gzip', gzipSync(Buffer.alloc(64 * MIB, ' '))) : undefined),
  ],
  [
    'ten million lists in a range',
    ({ path }) => (isBulk(path) ? new Response(`{"block_list":[${'[],'.repeat(10 * MIB)}[]]}`) : undefined),
  ],
]

describe('the memory of a load', () => {
  let honest = 0
  beforeAll(async () => {
    honest = await peakOf('honest')
    expect(honest).toBeGreaterThan(10 * MIB)
  })
  test.each(LIES)('%s costs a bounded amount', async (what, fault) => {
    let lies = 0
    const peak = await peakOf(what.replaceAll(' ', '-'), async (asked, truth) => {
      const answer = await fault(asked, truth)
      if (answer !== undefined) lies += 1
      return answer
    })
    expect(lies).toBeGreaterThan(0)
    expect(peak).toBeLessThan(honest + MOST_MORE)
  })
})
