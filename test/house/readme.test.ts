import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Replay } from '#test/replay/serve.ts'
import { commandsIn, documented, fences } from '../support/documented.ts'
import { type Running, spawnIn } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'
import { loadedFile } from '../support/stores/loaded.ts'
import { replayed } from '../support/stores/loading.ts'

/**
 * The files of a checkout that the documented commands need. `dist` keeps its modification time, so that it
 * is rebuilt only when it is older than the sources.
 */
const NEEDED = [
  ...['scripts', 'src', 'indices', 'test/chain', 'test/replay', 'test/support/nodes/rpc', 'dist'],
  ...['package.json', 'bun.lock', 'tsconfig.json'],
]

/** The documented address of the service. The test replaces it with a free port. */
const SERVICE = 'http://127.0.0.1:8080'
const NODE = 'http://NODE:30001'
/** Height of the short chain that replaces NODE. */
const SHORT = 100

/** Commands that run until they are stopped. */
const SERVES = /^(scripts\/start|dist\/iostlens up)\b/

describe('the documented commands, run in their order in a copy of the project', () => {
  let copy: string
  let node: Replay
  let service: { readonly process: Running; readonly url: string } | undefined

  const stop = async (): Promise<void> => {
    const running = service
    service = undefined
    running?.process.kill('SIGINT')
    expect((await running?.process.ended)?.code ?? 0).toBe(0)
  }

  const serve = async (command: string): Promise<void> => {
    await stop()
    const process = spawnIn(copy, ['bash', '-c', `exec ${command}`], {
      IOSTLENS_LISTEN: '127.0.0.1:0',
      IOSTLENS_PROVE: 'linked',
    })
    service = { process, url: await process.firstLine }
    await process.says('Loaded up to block')
  }

  const run = async (command: string): Promise<string> => {
    const { code, out, err } = await spawnIn(copy, ['bash', '-c', command]).ended
    expect([command, code, code === 0 ? '' : err]).toEqual([command, 0, ''])
    return out
  }

  const follow = async (text: string): Promise<void> => {
    let said = ''
    for (const fence of fences(text)) {
      if (fence.language === 'json')
        expect(JSON.stringify(JSON.parse(said))).toBe(JSON.stringify(JSON.parse(fence.text)))
      if (fence.language !== 'sh') continue
      for (const written of commandsIn(fence)) {
        const command = written.replace(NODE, node.url).replace(SERVICE, service?.url ?? SERVICE)
        if (SERVES.test(command)) await serve(command)
        else said = await run(command)
        if (command.includes(' keys add ')) await expectKnown(said.trim().split('\n').at(-1) ?? '')
      }
    }
  }

  /** A key created as documented is accepted by the running service. */
  const expectKnown = async (key: string): Promise<void> => {
    const ask = async (one: string) => (await fetch(`${service?.url}/api/base/get-overview?apikey=${one}`)).status
    expect([await ask(key), await ask(`${key}x`)]).toEqual([200, 401])
  }

  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'iostlens-readme-'))
    const present = NEEDED.filter(path => existsSync(join(ROOT, path)))
    const copied = spawnSync('cp', ['-a', '--parents', ...present, copy], { cwd: ROOT })
    expect([copied.status, String(copied.stderr)]).toEqual([0, ''])
    for (const shared of ['node_modules', '.bun'])
      if (existsSync(join(ROOT, shared))) symlinkSync(join(ROOT, shared), join(copy, shared))
    // The first command continues a load that other tests began.
    await mkdir(join(copy, 'data'))
    await copyFile(await loadedFile(), join(copy, 'data/devnet.sqlite'))
    node = await replayed(SHORT)
  })
  afterAll(async () => {
    await stop()
    await node.stop()
    await rm(copy, { recursive: true })
  })

  test('README.md: every command works as described, and the example is the service’s answer', () =>
    follow(documented('README.md')))

  test('docs/operating.md: the backup of a store that is loaded and served is complete', async () => {
    await follow(documented('docs/operating.md', '## Backup'))
    using kept = new Database(join(copy, 'backup.sqlite'), { readonly: true })
    expect(kept.query('SELECT count(*) AS blocks FROM blocks').get()).toEqual({ blocks: SHORT + 1 })
    expect(kept.query('SELECT count(*) AS keys FROM keys').get()).toEqual({ keys: 1 })
  })

  test('docs/operating.md: the store of the same version needs no upgrade', async () => {
    await stop()
    await follow(documented('docs/operating.md', '## Upgrade'))
  })

  test('docs/operating.md: the checks and audits after a first load find no fault', () =>
    follow(documented('docs/operating.md', '## First load')))
})
