import { expect, test } from 'bun:test'
import { checkMachine, checkNode, checkServer, type DoctorFinding } from '#cli/doctor.ts'
import { Failure } from '#failure/failure.ts'
import { computeLeastFree } from '#store/elastic/read/server-report.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { spokenNode } from '../support/nodes/spoken-node.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { expectEnd, loadedFolder } from './folder.ts'

test('doctor: reports a store, its node and their faults, with an exit code', async () => {
  await using node = await startFaultyNode(undefined, 60)
  await using nothing = await cliFolder()
  await expectEnd(nothing, ['doctor'], 0, /does not exist yet.*No node is set|No node is set.*does not exist yet/s)
  await using folder = await loadedFolder(60)
  const good = await folder.run(['doctor', '--json', '--node', node.url])
  const findings: readonly DoctorFinding[] = JSON.parse(good.out).findings
  expect([good.code, findings.filter(({ is }) => is === 'wrong')]).toEqual([0, []])
  const whats = findings.map(({ what }) => what).join('\n')
  for (const says of [
    'is of this version, with all its parts',
    'has blocks up to 60',
    `${node.url} has the last stored block, 60`,
    'answers getRawBlockByNumber',
  ])
    expect(whats).toContain(says)
  const away = ['doctor', '--node', 'http://127.0.0.1:1', '--node-timeout', '100ms']
  await expectEnd(folder, away, 3, /wrong +node +No node responded.*curl URL\/getChainInfo/s)
})

/** Accepts connections and never answers. */
function silentServer() {
  const asked = Promise.withResolvers<void>()
  const server = Bun.listen({
    ...{ hostname: '127.0.0.1', port: 0 },
    socket: { data: () => asked.resolve(), error: () => undefined },
  })
  return { url: `http://127.0.0.1:${server.port}`, asked: asked.promise, [Symbol.dispose]: () => server.stop(true) }
}

test('doctor: what answers is printed while a hung store and a hung node do not, each of which costs one wait', async () => {
  using store = silentServer()
  using away = silentServer()
  await using node = await startFaultyNode(undefined, 5)
  await using folder = await cliFolder()
  const doctor = folder.start(['doctor', '--store', `${store.url}/iostlens`, '--node', `${node.url},${away.url}`])
  const said = ['memory are free', `${node.url} serves chain`].map(doctor.says)
  await Promise.all([store.asked, away.asked, ...said])
  expect(doctor.said()).not.toContain('did not answer')
  const { code, out } = await doctor.ended
  const late = out.split('\n').filter(line => line.includes('did not answer within 5 seconds'))
  expect([code, late.map(line => line.split(/ +/).slice(0, 3).join(' ')).toSorted()]).toEqual([
    3,
    ['wrong node', 'wrong store'].map(begin => expect.stringContaining(begin)),
  ])
})

const NOW = 1_795_249_572_500
async function askedOf(head: number, over: object = {}): Promise<readonly DoctorFinding[]> {
  const info = { headTime: BigInt(head) * 1_000_000n, libBlock: 4_851 }
  const findings: DoctorFinding[] = []
  await checkNode(
    {
      node: { ...spokenNode({}, info), get: () => Promise.reject(new Failure('unavailable', 'gone')), ...over },
      stored: Promise.resolve({
        published: { height: 10, hash: 'ours', time: 0n, lib: 10 },
        identity: { chainId: 1020, genesis: 'g' },
      }),
      hashAt: async () => undefined,
      clock: { now: () => NOW },
      signal: new AbortController().signal,
    },
    finding => findings.push(finding),
  )
  return findings
}
const said = (findings: readonly DoctorFinding[]) =>
  findings.filter(({ is }) => is !== 'ok').map(({ is, what }) => `${is}: ${what}`)

test('doctor: checks the clock, chain and calls of a node', async () => {
  const hashes = (at: string) => ({ blockHash: async (height: number) => (height === 0 ? 'g' : at) })
  const old = said(await askedOf(NOW - 31_000, hashes('ours')))
  expect(old[0]).toBe("warning: The head block of spoken is 31 seconds old by this machine's clock")
  expect(old).toContain('warning: gone')
  const early = said(await askedOf(NOW + 31_000, hashes('other')))
  expect(early[0]).toBe("wrong: The head block of spoken was made 31 seconds after this machine's time")
  expect(early).toContain('wrong: Block 10 is ours in the store and other at spoken')
  const foreign = said(await askedOf(NOW, { blockHash: async () => 'x' }))
  expect(foreign).toContain('wrong: spoken serves another chain than the store holds: genesis block x, not g')
})

test('doctor: a low file limit and little memory are warnings with a remedy', () => {
  const poor = checkMachine({ openFiles: 1_024, memory: 2_000_000_000, freeMemory: 500_000_000 })
  expect(said(poor)).toEqual(['warning: The process may open 1024 files', 'warning: 500 MB of 2000 MB memory are free'])
  expect(poor[0]?.help).toContain('ulimit -n 65536')
  expect(said(checkMachine({ openFiles: undefined, memory: 8_000_000_000, freeMemory: 5_000_000_000 }))).toEqual([])
})

const DISK = { server: 'a', freeBytes: 10e9, totalBytes: 100e9 }
const FULL = '10.0 GB of 100.0 GB are free on the disk of a, less than the low watermark of 15.0 GB'

test.each<readonly [Partial<Parameters<typeof checkServer>[0]>, ...string[]]>([
  [{ disks: [{ ...DISK, leastBytes: 9e9 }] }],
  [{ disks: [{ ...DISK, leastBytes: 15e9 }] }, `warning: ${FULL}`],
  [{ disks: undefined }, 'warning: '],
  [
    { missingPrivileges: ['write', 'maintenance'] },
    'warning: The user of Elasticsearch lacks on the indices: write, maintenance',
  ],
  [{ missingPrivileges: ['read'] }, 'wrong: '],
  [{ missingPrivileges: undefined }],
  [{ blocked: ['p-keys-0'] }, 'wrong: '],
  [{ createsIndices: true }, 'warning: '],
])('doctor: Elasticsearch with %j is reported, with a remedy', (over, ...expected) => {
  const found = checkServer({ disks: [], missingPrivileges: [], blocked: [], createsIndices: false, ...over })
  expect(said(found)).toEqual(expected.map(text => expect.stringContaining(text)))
  for (const { is, help } of found) expect([is, help === undefined]).toEqual([is, is === 'ok'])
})

test.each([
  ['85%', undefined, 150],
  ['85%', '100b', 100],
  ['85%', '-1', 150],
  ['0.9', undefined, 100],
  ['2kb', undefined, 2_048],
])('doctor: reads a low watermark of %s, headroom %s', (watermark, headroom, least) => {
  expect(computeLeastFree(1_000, { watermark, headroom })).toBe(least)
})

test.skipIf(elasticsearchUrl() === undefined)('doctor: Elasticsearch returns its report', async () => {
  await using elastic = openTestElastic()
  const { store, url, prefix } = elastic
  await store.create()
  const sound = await store.serverReport?.()
  expect(sound).toMatchObject({ blocked: [], createsIndices: expect.any(Boolean) })
  const [{ freeBytes = 0, totalBytes = 0, leastBytes = 0 } = {}] = sound?.disks ?? []
  expect([freeBytes <= totalBytes, leastBytes > 0]).toEqual([true, true])
  await ask('PUT', `${url}/${prefix}-keys*/_settings`, { 'index.blocks.read_only_allow_delete': true })
  expect((await store.serverReport?.())?.blocked.length).toBe(1)
})
