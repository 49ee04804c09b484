import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { YAML } from 'bun'
import { ROOT } from '#test/support/root.ts'

/** The files that start the program: each has metrics at an address of their own, and loading containers a number of threads. */

const FOLDER = join(ROOT, 'packaging')
const text = (file: string): Promise<string> => Bun.file(join(FOLDER, file)).text()
const filesOf = (pattern: string): string[] => [...new Bun.Glob(pattern).scanSync(FOLDER)].sort()

type Container = {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
}
type Workload = {
  readonly kind: string
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
      readonly spec: { readonly containers: readonly Container[] }
    }
  }
}

async function workloads(): Promise<readonly Workload[]> {
  const documents = await Promise.all(filesOf('kubernetes/**/*.yaml').map(async file => YAML.parse(await text(file))))
  return (documents.flat() as Workload[]).filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))
}

test('kubernetes: every process has metrics, which Prometheus finds, and a load has a number of threads', async () => {
  const commands: string[] = []
  for (const { spec } of await workloads())
    for (const { args, env, ports } of spec.template.spec.containers) {
      commands.push(...args)
      const values = new Map(env.map(({ name, value }) => [name, value]))
      const { containerPort } = ports.find(({ name }) => name === 'metrics') ?? {}
      expect([args, values.get('IOSTLENS_METRICS_LISTEN')]).toEqual([args, `0.0.0.0:${containerPort}`])
      expect([args, spec.template.metadata.annotations]).toEqual([
        args,
        { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(containerPort) },
      ])
      expect([args, values.get('IOSTLENS_THREADS')]).toEqual([args, args[0] === 'serve' ? undefined : '2'])
    }
  expect(commands.toSorted()).toEqual(['load', 'serve', 'up'])
})

test('kubernetes: the address of the service leads to no metrics', async () => {
  const { spec } = YAML.parse(await text('kubernetes/service/service.yaml')) as {
    readonly spec: { readonly ports: readonly { readonly targetPort: string }[] }
  }
  expect(spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http'])
})

test('systemd: every unit has metrics at an address of this machine alone', async () => {
  const commands: (string | undefined)[] = []
  const addresses = new Set<string | undefined>()
  for (const unit of filesOf('systemd/*.service')) {
    const lines = await text(unit)
    commands.push(/^ExecStart=\S+ (.+)$/m.exec(lines)?.[1])
    const address = /^Environment=IOSTLENS_METRICS_LISTEN=(.+)$/m.exec(lines)?.[1]
    expect([unit, address]).toEqual([unit, expect.stringMatching(/^127\.0\.0\.1:(?:\d+|%i)$/)])
    addresses.add(address)
  }
  expect(commands.toSorted()).toEqual(['load', 'serve', 'up'])
  expect(addresses.size).toBe(2)
})

test('systemd and docker: no process is limited to the 256 requests at once that the runtime sends by default', async () => {
  const files = [...filesOf('systemd/*.service'), 'docker/Dockerfile']
  const setting = /^(?:Environment=|ENV )BUN_CONFIG_MAX_HTTP_REQUESTS=1024$/m
  for (const file of files) expect([file, await text(file)]).toEqual([file, expect.stringMatching(setting)])
})

test('docker: the image has metrics at an address of their own, and compose publishes it on this machine alone', async () => {
  const port = /IOSTLENS_METRICS_LISTEN=0\.0\.0\.0:(\d+)/.exec(await text('docker/Dockerfile'))?.[1]
  const { services } = YAML.parse(await text('docker/compose.yaml')) as {
    readonly services: {
      readonly iostlens: { readonly ports: readonly string[]; readonly environment: Readonly<Record<string, string>> }
    }
  }
  expect(services.iostlens.ports).toContain(`127.0.0.1:${port}:${port}`)
  expect(services.iostlens.environment['IOSTLENS_THREADS']).toMatch(/2/)
})
