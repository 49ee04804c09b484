import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnIn } from '#test/support/processes/cli-process.ts'
import { pythonTools, runTool } from '#test/support/processes/run-tool.ts'
import { ROOT } from '#test/support/root.ts'
import { replayed } from '#test/support/stores/loading.ts'

const DOCKER = join(ROOT, 'packaging/docker')
const text = (name: string): Promise<string> => Bun.file(join(DOCKER, name)).text()

test('image: the Dockerfile satisfies hadolint', async () => {
  const hadolint = join(await pythonTools(), '../hadolint')
  expect(await runTool([hadolint, join(DOCKER, 'Dockerfile')])).toBe('')
})

test('image: the Dockerfile uses the pinned Bun, and .dockerignore admits the files it copies', async () => {
  const { engines } = await Bun.file(join(ROOT, 'package.json')).json()
  for (const name of ['Dockerfile', 'compose.demo.yaml'])
    expect(/oven\/bun:([\d.]+)/.exec(await text(name))?.[1]).toBe(engines.bun)
  const taken = (await Bun.file(join(ROOT, '.dockerignore')).text()).match(/(?<=^!).+/gm) ?? []
  const copied = [...(await text('Dockerfile')).matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
    (names ?? '').split(' '),
  )
  expect(copied.sort()).toEqual([...taken].sort())
})

/**
 * Imitates a container engine on the image's root folder, as far as root can do without an engine: separate
 * mounts, root file system read-only, /data writable, the image's user, no further privileges.
 */
const INSIDE = `
set -e
mount --bind "$1" "$1"
mkdir -p "$1/proc" "$1/dev"
mount --rbind /proc "$1/proc"
mount --rbind /dev "$1/dev"
mount --bind "$1/data" "$1/data"
mount -o remount,ro,bind "$1"
root=$1
shift
exec setpriv --no-new-privs chroot --userspec=65532:65532 "$root" /usr/local/bin/iostlens "$@"
`
const inside = (root: string, ...args: readonly string[]): string[] => [
  ...['unshare', '--mount', '--propagation', 'private', 'bash', '-c', INSIDE, 'inside', root],
  ...args,
]

test('image: its root contains all files of the program, and its user loads and serves on a read-only root', async () => {
  if (process.getuid?.() !== 0) throw new Error('This test makes mounts: run it as root.')
  const folder = await mkdtemp(join(tmpdir(), 'iostlens-image-'))
  try {
    const root = join(folder, 'image')
    await runTool([join(DOCKER, 'image-root'), join(ROOT, 'dist/iostlens'), root])
    await using node = await replayed(60)
    const settings = { IOSTLENS_DATA: '/data', IOSTLENS_LISTEN: '127.0.0.1:0', IOSTLENS_NODE: node.url }
    const up = spawnIn(folder, inside(root, 'up'), settings)
    const url = await up.firstLine
    const answer = spawnIn(folder, inside(root, 'health', '--listen', new URL(url).host))
    expect(JSON.parse((await answer.ended).out)).toMatchObject({ status: 'ok' })
    await up.logs('Loaded')
    expect(await Bun.file(join(root, 'data/iostlens.sqlite')).exists()).toBe(true)
    up.kill('SIGTERM')
    expect((await up.ended).code).toBe(0)
    const gone = await spawnIn(folder, inside(root, 'health', '--listen', new URL(url).host)).ended
    expect([gone.code, gone.err]).toEqual([75, expect.stringContaining('does not answer')])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
