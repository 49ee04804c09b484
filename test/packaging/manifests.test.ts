import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { YAML } from 'bun'
import { environmentName, settingNames } from '#cli/settings.ts'
import { pythonTools, runTool, systemProgram } from '../support/processes/run-tool.ts'
import { ROOT } from '../support/root.ts'

/** The files that start the program. */

const FOLDER = join(ROOT, 'packaging')
const read = (file: string): Promise<string> => Bun.file(join(FOLDER, file)).text()
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
    const { resources } = YAML.parse(await read(file)) as { resources: string[] }
    for (const resource of resources) {
      const path = join(FOLDER, dirname(file), resource)
      expect([resource, existsSync(path)]).toEqual([resource, true])
      named.add(relative(FOLDER, path))
    }
  }
  expect([...named].filter(name => name.endsWith('.yaml')).sort()).toEqual(manifests)
})

test('packaging: every setting in the files exists', async () => {
  const known = new Set(settingNames.map(environmentName).flatMap(name => [name, `${name}_FILE`]))
  const named = await Promise.all(
    listFiles('**/*').map(async file =>
      [...(await read(file)).matchAll(/\bIOSTLENS_[A-Z_]+\b/g)].map(([name]) => name),
    ),
  )
  expect(named.flat().length).toBeGreaterThan(10)
  expect(named.flat().filter(name => !known.has(name))).toEqual([])
})

type Workload = {
  readonly kind: string
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
      readonly spec: {
        readonly containers: readonly {
          readonly args: readonly string[]
          readonly env: readonly { readonly name: string; readonly value?: string }[]
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
        }[]
      }
    }
  }
}

test('kubernetes: every process has metrics, which Prometheus finds, and a load has a number of threads', async () => {
  const documents = await Promise.all(manifests.map(async file => YAML.parse(await read(file))))
  const workloads = (documents.flat() as Workload[]).filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))
  const commands: string[] = []
  for (const { spec } of workloads)
    for (const { args, env, ports } of spec.template.spec.containers) {
      commands.push(...args)
      const values = new Map(env.map(({ name, value }) => [name, value]))
      const { containerPort } = ports.find(({ name }) => name === 'metrics') ?? {}
      expect([args, values.get('IOSTLENS_METRICS_LISTEN'), spec.template.metadata.annotations]).toEqual([
        ...[args, `0.0.0.0:${containerPort}`],
        { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(containerPort) },
      ])
      expect([args, values.get('IOSTLENS_THREADS')]).toEqual([args, args[0] === 'serve' ? undefined : '2'])
    }
  expect(commands.toSorted()).toEqual(['load', 'serve', 'up'])
  // The address of the service leads to no metrics.
  const { spec } = YAML.parse(await read('kubernetes/service/service.yaml')) as {
    readonly spec: { readonly ports: readonly { readonly targetPort: string }[] }
  }
  expect(spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http'])
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
  const { services } = YAML.parse(await read('docker/compose.yaml')) as {
    readonly services: {
      readonly iostlens: { readonly ports: readonly string[]; readonly environment: Readonly<Record<string, string>> }
    }
  }
  expect(services.iostlens.ports).toContain(`127.0.0.1:${port}:${port}`)
  expect(services.iostlens.environment['IOSTLENS_THREADS']).toMatch(/2/)
})

async function analyze(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  const child = Bun.spawn([await systemProgram('systemd-analyze', 'systemd'), ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, said: out + err }
}

test.each(units)(
  'systemd: %s has no setting unknown to systemd, and an exposure of 1.5 or less by its rating',
  async unit => {
    const { said } = await analyze('verify', '--man=no', '--recursive-errors=no', join(FOLDER, unit))
    // The program itself is not installed on the test machine.
    const other = said
      .split('\n')
      .filter(line => line !== '' && !line.includes('/usr/local/bin/iostlens is not executable'))
    expect(other).toEqual([])
    const rated = await analyze('security', '--offline=yes', '--threshold=15', join(FOLDER, unit))
    expect([rated.code, /Overall exposure level .*: ([\d.]+)/.exec(rated.said)?.[1]]).toEqual([0, expect.any(String)])
  },
)
