import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import { PackageURL } from 'packageurl-js'
import parse from 'spdx-expression-parse'

/**
 * Writes the bill of materials of the program as CycloneDX 1.6, JSON: `scripts/bun scripts/sbom.ts METAFILE
 * OUT`. It lists Bun and the packages whose modules are in the program, according to METAFILE of `bun build`.
 */
const root = resolve(import.meta.dir, '..')

type PackageJson = {
  readonly name: string
  readonly version: string
  readonly engines: { readonly bun: string }
}

const packageJson = (folder: string): Promise<PackageJson> => Bun.file(join(folder, 'package.json')).json()

/** Folder of the package that a module belongs to: the innermost below `node_modules` with a name and a version. */
async function packageFolder(module: string): Promise<string | undefined> {
  for (let folder = dirname(join(root, module)); folder.includes('node_modules'); folder = dirname(folder)) {
    if (!existsSync(join(folder, 'package.json'))) continue
    const { name, version } = await packageJson(folder)
    if (name && version) return folder
  }
  return undefined
}

const components = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(
  new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory(),
  new Contrib.License.Factories.LicenseFactory(parse),
)

async function componentOf(folder: string, type: Enums.ComponentType): Promise<Models.Component> {
  const component = components.makeComponent(await Bun.file(join(folder, 'package.json')).json(), type)
  if (component === undefined) throw new Error(`${folder}/package.json names no package.`)
  const { group, name, version } = component
  component.purl = new PackageURL('npm', group, name, version).toString()
  component.bomRef.value = component.purl
  return component
}

function bun(version: string): Models.Component {
  const purl = new PackageURL('npm', undefined, 'bun', version).toString()
  return new Models.Component(Enums.ComponentType.Platform, 'bun', {
    version,
    purl,
    bomRef: purl,
    description: 'The runtime that is compiled into the program.',
    licenses: new Models.LicenseRepository([new Models.SpdxLicense('MIT')]),
  })
}

const [metafile, out] = process.argv.slice(2)
if (metafile === undefined || out === undefined) throw new Error('usage: scripts/sbom.ts METAFILE OUT')
const { inputs }: { readonly inputs: Readonly<Record<string, unknown>> } = await Bun.file(metafile).json()
const folders = new Set<string>()
for (const module of Object.keys(inputs)) {
  const folder = await packageFolder(module)
  if (folder !== undefined) folders.add(folder)
}
const program = await componentOf(root, Enums.ComponentType.Application)
const { engines } = await packageJson(root)
const parts = [
  bun(engines.bun),
  ...(await Promise.all([...folders].map(folder => componentOf(folder, Enums.ComponentType.Library)))),
]
for (const part of parts) program.dependencies.add(part.bomRef)
const bill = new Models.Bom({
  metadata: new Models.Metadata({ component: program }),
  components: new Models.ComponentRepository(parts),
})
const normalizer = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
const text = new Serialize.JsonSerializer(normalizer).serialize(bill, { sortLists: true, space: 2 })
await Bun.write(out, `${text}\n`)
