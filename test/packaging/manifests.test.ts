import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { YAML } from 'bun'
import { environmentName, settingNames } from '#cli/settings.ts'
import { spawnIn } from '../support/processes/cli-process.ts'
import { pythonTools, runTool, systemProgram } from '../support/processes/run-tool.ts'
import { ROOT } from '../support/root.ts'
import { replayed } from '../support/stores/loading.ts'
import { testFolder } from '../support/test-folder.ts'

const FOLDER = join(ROOT, 'packaging')
const { version, dependencies, engines } = await Bun.file(join(ROOT, 'package.json')).json()
const read = (file: string): Promise<string> => Bun.file(join(FOLDER, file)).text()
// biome-ignore lint/suspicious/noExplicitAny: A file as it is.
type Parsed = any
const parse = async (file: string): Promise<Parsed> => YAML.parse(await read(file))
const listFiles = (pattern: string): string[] => [...new Bun.Glob(pattern).scanSync(FOLDER)].sort()

const files = listFiles('kubernetes/**/*.yaml')
const manifests = files.filter(file => !file.endsWith('kustomization.yaml'))
const units = listFiles('systemd/*.service')

test('kubernetes: every object fits the schema of its kind', async () => {
  const validate = join(await pythonTools(), '../kubernetes-validate')
  await runTool([validate, '--strict', '--kubernetes-version', '1.33', ...manifests.map(file => join(FOLDER, file))])
})

test('kubernetes: all files in a kustomization exist, and every file is in one', async () => {
  const named = new Set<string>()
  for (const file of files.filter(each => !manifests.includes(each))) {
    for (const resource of (await parse(file)).resources) {
      const path = join(FOLDER, dirname(file), resource)
      expect([resource, existsSync(path)]).toEqual([resource, true])
      named.add(relative(FOLDER, path))
    }
  }
  expect([...named].filter(name => name.endsWith('.yaml')).sort()).toEqual(manifests)
})

test('packaging: every setting in the files exists', async () => {
  const known = new Set(settingNames.map(environmentName).flatMap(name => [name, `${name}_FILE`]))
  const all = (await Promise.all(listFiles('**/*').map(read))).join('\n')
  const named = [...all.matchAll(/\bIOSTLENS_[A-Z_]+\b/g)].map(([name]) => name)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(name => !known.has(name))).toEqual([])
})

test('kubernetes: every process has metrics, which Prometheus finds, and a load has a number of threads', async () => {
  const documents = (await Promise.all(manifests.map(parse))).flat()
  const commands: string[] = []
  for (const { kind, spec } of documents) {
    if (!['Deployment', 'StatefulSet'].includes(kind)) continue
    for (const { args, env, ports } of spec.template.spec.containers) {
      commands.push(...args)
      const findValue = (wanted: string) => env.find(({ name }: Parsed) => name === wanted)?.value
      const { containerPort } = ports.find(({ name }: Parsed) => name === 'metrics') ?? {}
      expect([args, findValue('IOSTLENS_METRICS_LISTEN')]).toEqual([args, `0.0.0.0:${containerPort}`])
      const found = { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(containerPort) }
      expect([args, spec.template.metadata.annotations]).toEqual([args, found])
      expect([args, findValue('IOSTLENS_THREADS')]).toEqual([args, args[0] === 'serve' ? undefined : '2'])
    }
  }
  expect(commands.toSorted()).toEqual(['load', 'serve', 'up'])
  // The address of the service leads to no metrics.
  const { spec } = await parse('kubernetes/service/service.yaml')
  expect(spec.ports.map(({ targetPort }: Parsed) => targetPort)).toEqual(['http'])
})

test('systemd: every unit has metrics at an address of this machine alone', async () => {
  const commands: (string | undefined)[] = []
  const addresses = new Set<string | undefined>()
  for (const unit of units) {
    const lines = await read(unit)
    commands.push(/^ExecStart=\S+ (.+)$/m.exec(lines)?.[1])
    const address = /^Environment=IOSTLENS_METRICS_LISTEN=(.+)$/m.exec(lines)?.[1]
    expect([unit, address]).toEqual([unit, expect.stringMatching(/^127\.0\.0\.1:(?:\d+|%i)$/)])
    addresses.add(address)
  }
  expect(commands.toSorted()).toEqual(['load', 'serve', 'up'])
  expect(addresses.size).toBe(2)
})

test('systemd and docker: no process is limited to the 256 requests at once that the runtime sends by default', async () => {
  const setting = /^(?:Environment=|ENV )BUN_CONFIG_MAX_HTTP_REQUESTS=1024$/m
  for (const file of [...units, 'docker/Dockerfile'])
    expect([file, await read(file)]).toEqual([file, expect.stringMatching(setting)])
})

test('docker: the image has metrics at an address of their own, and compose publishes it on this machine alone', async () => {
  const port = /IOSTLENS_METRICS_LISTEN=0\.0\.0\.0:(\d+)/.exec(await read('docker/Dockerfile'))?.[1]
  const { ports, environment } = (await parse('docker/compose.yaml')).services.iostlens
  expect(ports).toContain(`127.0.0.1:${port}:${port}`)
  expect(environment.IOSTLENS_THREADS).toMatch(/2/)
})

test.each(units)(
  'systemd: %s has no setting unknown to systemd, and an exposure of 1.5 or less by its rating',
  async unit => {
    const program = await systemProgram('systemd-analyze', 'systemd')
    const analyze = (...args: readonly string[]) => spawnIn(FOLDER, [program, ...args, join(FOLDER, unit)]).ended
    const { out, err } = await analyze('verify', '--man=no', '--recursive-errors=no')
    // The program itself is not installed on the test machine.
    const other = (out + err).split('\n').filter(line => !/^$|\/usr\/local\/bin\/iostlens is not executable/.test(line))
    expect(other).toEqual([])
    const rated = await analyze('security', '--offline=yes', '--threshold=15')
    expect([rated.code, rated.out + rated.err]).toEqual([0, expect.stringMatching(/Overall exposure level .*: [\d.]+/)])
  },
)

test('image: the Dockerfile satisfies hadolint', async () => {
  const hadolint = join(await pythonTools(), '../hadolint')
  expect(await runTool([hadolint, join(FOLDER, 'docker/Dockerfile')])).toBe('')
})

test('image: the Dockerfile uses the pinned Bun, and .dockerignore admits the files it copies', async () => {
  for (const name of ['Dockerfile', 'compose.demo.yaml'])
    expect(/oven\/bun:([\d.]+)/.exec(await read(`docker/${name}`))?.[1]).toBe(engines.bun)
  const taken = (await Bun.file(join(ROOT, '.dockerignore')).text()).match(/(?<=^!).+/gm) ?? []
  const copies = (await read('docker/Dockerfile')).matchAll(/^COPY (?!--from)(.+) \S+$/gm)
  const copied = [...copies].flatMap(([, names = '']) => names.split(' '))
  expect(copied.toSorted()).toEqual(taken.toSorted())
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
const UNSHARED = ['unshare', '--mount', '--propagation', 'private', 'bash', '-c', INSIDE, 'inside']

test('image: its root contains all files of the program, and its user loads and serves on a read-only root', async () => {
  if (process.getuid?.() !== 0) throw new Error('This test makes mounts: run it as root.')
  const folder = testFolder()
  const root = join(folder, 'image')
  await runTool([join(FOLDER, 'docker/image-root'), join(ROOT, 'dist/iostlens'), root])
  await using node = await replayed(60)
  const settings = { IOSTLENS_DATA: '/data', IOSTLENS_LISTEN: '127.0.0.1:0', IOSTLENS_NODE: node.url }
  const up = spawnIn(folder, [...UNSHARED, root, 'up'], settings)
  const { host } = new URL(await up.firstLine)
  const askHealth = () => spawnIn(folder, [...UNSHARED, root, 'health', '--listen', host]).ended
  expect(JSON.parse((await askHealth()).out)).toMatchObject({ status: 'ok' })
  await up.logs('Loaded')
  expect(await Bun.file(join(root, 'data/iostlens.sqlite')).exists()).toBe(true)
  up.kill('SIGTERM')
  expect((await up.ended).code).toBe(0)
  expect(await askHealth()).toMatchObject({ code: 75, err: expect.stringContaining('does not answer') })
})

const RELEASE = join(ROOT, 'dist/release')
const COMMIT = '0123456789ab'
/** Place of a program's machine in its ELF header, and its number for arm64. */
const [ELF_MACHINE, AARCH64] = [18, 183]

describe('scripts/release', () => {
  const program = `iostlens-${version}-linux-x64`
  const bill = `iostlens-${version}.cdx.json`
  beforeAll(async () => {
    await runTool(['scripts/release', 'linux-x64'], { environment: { COMMIT } })
  })
  afterAll(() => rm(RELEASE, { recursive: true, force: true }))

  test('the program prints its version and commit', async () => {
    expect(await runTool([join(RELEASE, program), '--version'])).toBe(`iostlens ${version}+${COMMIT}\n`)
  })

  test('checksums cover every file and are right', async () => {
    const said = await runTool(['sha256sum', '--check', '--strict', 'SHA256SUMS'], { folder: RELEASE })
    expect(said.trim().split('\n').sort()).toEqual([`${program}: OK`, `${bill}: OK`].sort())
  })

  test('the bill of materials is CycloneDX, and lists the packages in the program', async () => {
    const text = await Bun.file(join(RELEASE, bill)).text()
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
    const purls: readonly string[] = JSON.parse(text).components.map(({ purl }: { purl: string }) => purl)
    for (const [name, version] of Object.entries({ ...dependencies, bun: engines.bun }))
      expect(purls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`)
    // No program contains the tools of the tests.
    expect(purls.filter(purl => /biome|typescript|redocly/.test(purl))).toEqual([])
  })

  test.skipIf(process.arch === 'arm64')(
    'a program for another machine is one, without bytecode that nothing tried',
    async () => {
      const out = join(testFolder(), 'iostlens-arm64')
      await runTool(['scripts/build', '--target', 'bun-linux-arm64-musl', '--out', out])
      const head = new DataView(await Bun.file(out).slice(0, 20).arrayBuffer())
      expect(head.getUint16(ELF_MACHINE, true)).toBe(AARCH64)
    },
  )

  test('an unknown platform is refused', async () => {
    const platforms = 'linux-x64 linux-x64-musl linux-arm64 linux-arm64-musl'
    const refusal = `ended with 2:.*unknown platform 'windows'; it must be one of ${platforms}`
    await expect(runTool(['scripts/release', 'windows'])).rejects.toThrow(new RegExp(refusal, 's'))
  })
})
