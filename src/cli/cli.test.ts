import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { Failure, type FailureKind } from '#failure/failure.ts'
import type { ProofRecord } from '#store/published.ts'
import { provedJson, provedLines } from './auditing.ts'
import { toExitCode } from './command.ts'
import { writeWelcome } from './load.ts'
import { createLog } from './log.ts'
import { watchStore } from './serving.ts'
import { abandonWhenStopped } from './stop.ts'

test.each([
  [2, ['usage', 'not_found'].map(kind => new Failure(kind as FailureKind, 'x'))],
  [3, ['conflict', 'bad_block', 'damaged'].map(kind => new Failure(kind as FailureKind, 'x'))],
  [1, [new Failure('defect', 'x'), new TypeError('x'), 'x']],
  [
    75,
    [new Failure('unavailable', 'x'), new Failure('loading', 'x'), new Failure('conflict', 'x', { retryable: true })],
  ],
  [2, [new Failure('unavailable', 'x', { retryable: false })]],
] as const)('exit codes: %d shows the cause and whether a retry can help', (code, failures) => {
  expect(failures.map(toExitCode)).toEqual(failures.map(() => code))
})

test('exit codes: an error of the system is one of the operator if it is about a file, else it passes', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  const missing = await readFile('/nowhere/at/all').catch(error => error)
  const folder = await readFile('/').catch(error => error)
  expect([missing, folder, full].map(toExitCode)).toEqual([2, 2, 75])
})

test('writeWelcome: without a shared key the command that adds a key to this store is shown', async () => {
  const store = {
    name: 'http://127.0.0.1:9200/iostlens',
    read: async () => ({ height: 7, richest: undefined }) as never,
  }
  const url = 'http://127.0.0.1:8080'
  const callOf = (path: string) => `${url}${path}`
  const lines = await writeWelcome({ url, callOf, testKey: 'off', isExplored: true, store })
  expect(lines).toContain('Open http://127.0.0.1:8080/ in a browser to see it.')
  expect(lines).toContain(
    "No shared test key is enabled; create a key with 'iostlens keys add NAME --store http://127.0.0.1:9200/iostlens'.",
  )
})

const forever = new Promise<number>(() => {})

test('abandonWhenStopped: work that does not end after the stop is abandoned', async () => {
  const stop = new AbortController()
  const waiting = abandonWhenStopped(forever, stop.signal, 1)
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ kind: 'deadline', message: expect.stringContaining('Stopped') })
})

function logged(format: 'plain' | 'json') {
  const lines: string[] = []
  const now = () => new Date('2026-11-21T08:00:00.000Z')
  const log = createLog({ level: 'info', format, write: line => lines.push(line), now })
  log('debug', 'Not shown.')
  log('info', 'Loaded blocks.', { height: 5, node: 'http://user:word@n/', reason: 'two words\nand "more"' })
  log('info', 'Opened the store.', { store: 'http://user:w@rd@es:9200/main' })
  log('error', 'Refused a call.', { path: '/api/?apikey=il_secret&module=base' })
  return lines
}

test('createLog: each plain entry is one line without secrets', () => {
  expect(logged('plain')).toEqual([
    '2026-11-21T08:00:00.000Z info  Loaded blocks. height=5 node=http://***@n/ reason="two words\\nand \\"more\\""',
    '2026-11-21T08:00:00.000Z info  Opened the store. store=http://***@es:9200/main',
    '2026-11-21T08:00:00.000Z error Refused a call. path="/api/?apikey=***&module=base"',
  ])
})

test('createLog: JSON lines have the same content', () => {
  const [first, ...others] = logged('json').map(line => JSON.parse(line))
  expect(first).toEqual({
    ...{ time: '2026-11-21T08:00:00.000Z', level: 'info', message: 'Loaded blocks.' },
    ...{ height: 5, node: 'http://***@n/', reason: 'two words\nand "more"' },
  })
  expect(others).toMatchObject([{ store: 'http://***@es:9200/main' }, { path: '/api/?apikey=***&module=base' }])
})

const published = (height: number, proved?: ProofRecord) => ({
  ...{ height, hash: '', time: 0n, lib: height },
  ...(proved === undefined ? {} : { proved }),
})

test('provedLines: a store of an earlier version has no record', () => {
  expect(provedLines(published(9))).toEqual(['blocks 0 to 9: not recorded, at best linked'])
  const ranges = [{ from: 0, to: 9, level: 'not recorded', agreed: false }]
  expect(provedJson(published(9))).toEqual({ ranges, lost_receipts: 0 } as never)
})

test('provedLines: every block up to the published one is listed, and none beyond', () => {
  const proved: ProofRecord = {
    ranges: [
      { from: 5, to: 5, level: 'signed' },
      { from: 6, to: 20, level: 'whole', agreed: true },
    ],
    lost: 3,
    formerKeys: [],
  }
  expect(provedLines(published(9, proved))).toEqual([
    'blocks 0 to 4: not recorded, at best linked',
    'block 5: signed',
    'blocks 6 to 9: whole, and other nodes agreed',
    "3 receipts by the raw block, since the node's JSON had lost bytes",
  ])
  const end = { from: 21, to: 30, level: 'not recorded', agreed: false }
  expect(provedJson(published(30, proved)).ranges.at(-1)).toEqual(end as never)
})

test('watchStore: a store that cannot be served is logged once with its remedy, and its recovery once', async () => {
  const unfinished = new Failure('damaged', 'A repair is unfinished.', { help: "Run 'iostlens repair' again." })
  const gone = new Error('it is gone')
  const health = [undefined, undefined, gone, gone, unfinished, undefined, undefined]
  const lines: unknown[] = []
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  let looks = 0
  const watching = watchStore(
    {
      name: 'sqlite:chain.sqlite',
      whole: async () => {},
      checkShape: async () => [],
      published: async () => {
        const failure = health[looks++]
        if (failure !== undefined) throw failure
        return undefined
      },
    },
    {
      sleep: async () => {
        if (looks < health.length) return
        watching.stop()
        end()
      },
    },
    {
      log: (level, message, fields) => lines.push([level, message, fields]),
      onRecovery: () => lines.push('recovered'),
    },
  )
  await over
  expect(looks).toBe(health.length)
  const refused = ['error', 'The store cannot be used; requests are refused.']
  expect(lines).toEqual([
    [...refused, { reason: 'it is gone', help: expect.stringContaining('iostlens doctor') }],
    [...refused, { reason: unfinished.message, help: unfinished.help }],
    ['info', 'The store can be used again.', { store: 'sqlite:chain.sqlite' }],
    'recovered',
  ])
})
