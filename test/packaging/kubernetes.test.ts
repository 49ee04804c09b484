import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { YAML } from 'bun'
import { environmentName, settingNames } from '#cli/settings.ts'
import { pythonTools } from '#test/support/processes/python-tools.ts'
import { runTool } from '#test/support/processes/run-tool.ts'
import { ROOT } from '#test/support/root.ts'

const FOLDER = join(ROOT, 'packaging/kubernetes')
const files = [...new Bun.Glob('**/*.yaml').scanSync(FOLDER)].sort()
const manifests = files.filter(file => !file.endsWith('kustomization.yaml'))

test('kubernetes: every object fits the schema of its kind', async () => {
  const validate = join(await pythonTools(), '../kubernetes-validate')
  await runTool([validate, '--strict', '--kubernetes-version', '1.33', ...manifests.map(file => join(FOLDER, file))])
})

test('kubernetes: all files in a kustomization exist, and every file is in one', async () => {
  const named = new Set<string>()
  for (const file of files.filter(file => file.endsWith('kustomization.yaml'))) {
    const { resources } = YAML.parse(await Bun.file(join(FOLDER, file)).text()) as { resources: string[] }
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
  const unknown: string[] = []
  let count = 0
  for await (const file of new Bun.Glob('**/*').scan(join(ROOT, 'packaging')))
    for (const [name] of (await Bun.file(join(ROOT, 'packaging', file)).text()).matchAll(/\bIOSTLENS_[A-Z_]+\b/g)) {
      count++
      if (!known.has(name)) unknown.push(`${file}: ${name}`)
    }
  expect(count).toBeGreaterThan(10)
  expect(unknown).toEqual([])
})
